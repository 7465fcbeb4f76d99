// Tests small files that claim to be large: the cost of reading them follows their content, not their claims.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>

#include "base/cbor.hpp"
#include "os/file.hpp"
#include "os/hooks.hpp"
#include "segment/file_source.hpp"
#include "segment/little_endian.hpp"
#include "segment/stages.hpp"
#include "support/installed_hooks.hpp"
#include "support/manifest_json.hpp"
#include "support/sample_segment.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::segment {
namespace {

const VersionId kHostileId{"nbody", 7, {1000, 1}};

/// Counts the bytes that this process reads from files.
class CountedReads : public os::Hooks {
 public:
  void after(const os::Operation& operation, int) override {
    if (std::string_view(operation.call) == "pread") bytes_ += operation.length;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::atomic<std::uint64_t> bytes_ = 0;
};

// Limits the address space to the present one and `more` bytes.
void allow_memory(std::uint64_t more) {
  if (test_support::kSanitized) return;  // a limit would hit the sanitizers' own memory
  ::malloc_trim(0);                      // memory used by earlier tests must not be room of this one
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages == 0) ::_exit(90);
  const rlim_t bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(90);
}

/// Reads the manifest and everything of the file in a process that has 64 MiB for it. It may read at most `bytes` more
/// than the file's written content. Returns the defect, or "".
std::string cost(const std::string& path, std::uint64_t bytes, const std::function<bool(const ByteSource&)>& judge) {
  const pid_t child = ::fork();
  if (child == 0) {
    CountedReads reads;
    const test_support::InstalledHooks installed(reads);
    allow_memory(64 * base::MiB);
    int status = 4;
    try {
      const auto source = open_file(path).value();
      status = judge(*source) ? 0 : 1;
    } catch (const std::bad_alloc&) {
      status = 2;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    if (status == 0 && reads.bytes() > bytes) status = 3;
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return "it died";
  constexpr std::array<const char*, 5> kSaid{"", "it was judged wrongly", "it took more than 64 MiB",
                                             "more was read than is there", "it threw"};
  const auto code = static_cast<std::size_t>(WEXITSTATUS(status));
  return code < kSaid.size() ? kSaid[code] : "the limit could not be set";
}

bool is_refused(const ByteSource& source) {
  const auto manifest = read_manifest(source);
  return !manifest && manifest.error().code == PERDURE_CORRUPT && !verify(source, nullptr).empty();
}

bool is_good(const ByteSource& source) { return read_manifest(source).has_value() && verify(source, nullptr).empty(); }

class HostileSegment : public testing::Test {
 protected:
  /// Makes a file with the right header and trailer, whose manifest of that hash and length is not written yet.
  os::File begin(const Manifest& manifest, std::uint64_t offset, std::uint64_t length, const base::Hash128& hash) {
    auto file = os::File::open(path_, os::Open::create).value();
    const std::uint64_t size = offset + base::round_up(length + kTrailerBytes, kAlignment);
    EXPECT_TRUE(file.truncate(size));
    EXPECT_TRUE(file.write(0, encode_header(manifest)));
    auto tail = encode_tail(manifest, offset);
    const base::ByteSpan trailer = base::ByteSpan(tail).last(kTrailerBytes);
    put_le<std::uint64_t>(trailer, 16, length);
    std::copy_n(hash.bytes().begin(), 16, trailer.begin() + 24);
    put_le<std::uint64_t>(trailer, 40, size);
    const auto own = base::hash128(trailer.first(48)).bytes();
    std::copy(own.begin(), own.end(), trailer.begin() + 48);
    EXPECT_TRUE(file.write(size - kTrailerBytes, trailer));
    return file;
  }
  void write(const Manifest& manifest, base::ConstByteSpan cbor) {
    const auto file = begin(manifest, 4096, cbor.size(), base::hash128(cbor));
    EXPECT_TRUE(file.write(4096, cbor));
  }
  Manifest empty_ = test_support::sample_manifest(kHostileId, 4, 1, 2, {}, 0, 4096);
  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  std::string path_ = directory_ / "hostile.pds";
};

// Has {"aaa": a byte string of nearly 2^30 zero bytes, and all that a manifest has}.
TEST_F(HostileSegment, OfAGiBOfHolesInItsManifestIsRefusedAtOnce) {
  const std::uint64_t zeros = (1ULL << 30) - 4096;
  const auto rest = base::encode_cbor(to_json(empty_));
  std::vector<std::byte> head{std::byte{0xa8}};
  for (const unsigned byte : {0x63U, 0x61U, 0x61U, 0x61U, 0x5aU, 0x3fU, 0xffU, 0xf0U, 0x00U})
    head.push_back(static_cast<std::byte>(byte));
  base::Hasher hasher;
  hasher.update(head);
  const std::vector<std::byte> block(base::MiB);
  for (std::uint64_t done = 0; done < zeros;) {
    const auto part = base::ConstByteSpan(block).first(std::min<std::uint64_t>(block.size(), zeros - done));
    hasher.update(part);
    done += part.size();
  }
  hasher.update(base::ConstByteSpan(rest).subspan(1));
  const auto file = begin(empty_, 4096, head.size() + zeros + rest.size() - 1, hasher.digest());
  ASSERT_TRUE(file.write(4096, head));
  ASSERT_TRUE(file.write(4096 + head.size() + zeros, base::ConstByteSpan(rest).subspan(1)));
  EXPECT_EQ(cost(path_, base::MiB, is_refused), "");
}

TEST_F(HostileSegment, OfFourMillionItemsNobodyKnowsCostsNoMemory) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  auto json = to_json(empty_);
  json["aaa"] = std::vector<unsigned>(4'000'000);
  write(empty_, base::encode_cbor(json));
  EXPECT_EQ(cost(path_, 32 * base::MiB, is_good), "");
  json["aaa"] = std::vector<unsigned>(5'000'000);
  write(empty_, base::encode_cbor(json));
  EXPECT_EQ(cost(path_, 32 * base::MiB, is_refused), "");
}

TEST_F(HostileSegment, OfAMillionRegionsThatAreOneIsRefused) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  Manifest manifest = test_support::sample_manifest(kHostileId, 4, 1, 2, {2}, 0, 4096);
  manifest.pieces[0].regions.assign(1'000'000, RegionEntry{});
  std::vector<std::byte> cbor;
  {
    auto few = manifest;
    few.pieces[0].regions.resize(1);
    const auto one = base::encode_cbor(to_json(few));  // ... "regions", 0x81, [0, 0, 0] ...
    const std::vector<std::byte> regions{std::byte{0x81}, std::byte{0x83}, std::byte{0}, std::byte{0}, std::byte{0}};
    const auto at = std::search(one.begin(), one.end(), regions.begin(), regions.end());
    ASSERT_NE(at, one.end());
    cbor.assign(one.begin(), at);
    for (const unsigned byte : {0x9aU, 0x00U, 0x0fU, 0x42U, 0x40U}) cbor.push_back(static_cast<std::byte>(byte));
    for (int i = 0; i < 1'000'000; ++i) cbor.insert(cbor.end(), regions.begin() + 1, regions.end());
    cbor.insert(cbor.end(), at + 5, one.end());
  }
  write(manifest, cbor);
  EXPECT_EQ(cost(path_, 16 * base::MiB, is_refused), "");
}

TEST_F(HostileSegment, OfEightTiBWithoutDataIsReadForWhatIsWritten) {
  const std::uint64_t far = 1ULL << 43;
  auto cbor = base::encode_cbor(to_json(empty_));
  const auto file = begin(empty_, far, cbor.size(), base::hash128(cbor));
  ASSERT_TRUE(file.write(far, cbor));
  EXPECT_EQ(cost(path_, 32 * base::MiB, is_good), "") << "a gap is zero, which is all that may be in it";
}

/// Makes one piece of `bytes` zero bytes, as in a copy that keeps no zero blocks.
Manifest zero_manifest(std::uint64_t bytes, std::uint64_t chunk_bytes, const base::Hash128& hash) {
  Manifest manifest{kHostileId, 4, 1, 2, "perdure test", {{2, chunk_bytes, {{0, 1, bytes}}, {}}}};
  for (std::uint64_t at = 0; at < bytes; at += chunk_bytes)
    manifest.pieces[0].chunks.push_back({0, chunk_bytes, hash, 0});
  return manifest;
}

TEST_F(HostileSegment, OfZerosThatACopyLeftOutIsGoodAndTheyAreNotRead) {
  const std::uint64_t chunk = 64 * base::MiB, bytes = 1ULL << 40;
  const std::vector<std::byte> zeros(chunk);
  for (const bool right : {true, false}) {
    Manifest manifest = zero_manifest(bytes, chunk, base::hash128(base::ConstByteSpan(zeros).first(right ? chunk : 1)));
    const std::uint64_t offset = lay_out(manifest);
    const auto cbor = base::encode_cbor(to_json(manifest));
    const auto file = begin(manifest, offset, cbor.size(), base::hash128(cbor));
    ASSERT_TRUE(file.write(offset, cbor));
    const auto judged = right ? std::function(is_good) : [](const ByteSource& source) {
      return verify(source, nullptr).size() == (1ULL << 40) / (64 * base::MiB);
    };
    EXPECT_EQ(cost(path_, 128 * base::MiB, judged), "") << "the first hole is read, where it does not fit the hash";
  }
}

TEST_F(HostileSegment, OfOneChunkOfEightTiBIsRefusedWithoutBeingRead) {
  Manifest manifest = zero_manifest(1ULL << 43, 1ULL << 43, {});
  const std::uint64_t offset = lay_out(manifest);
  const auto cbor = base::encode_cbor(to_json(manifest));
  const auto file = begin(manifest, offset, cbor.size(), base::hash128(cbor));
  ASSERT_TRUE(file.write(offset, cbor));
  const auto judged = [](const ByteSource& source) {
    const auto defects = verify(source, nullptr);
    return defects.size() == 1 && defects[0].rank == 2 && defects[0].chunk == 0;
  };
  EXPECT_EQ(cost(path_, 32 * base::MiB, judged), "");
}

// Format 4: a table is nearly 2^30 bytes of holes behind a head that claims a million chunks.
TEST_F(HostileSegment, OfAGiBOfHolesInATableIsRefusedAtOnce) {
  const std::uint64_t length = 1ULL << 30;
  empty_.alignment = 1;
  empty_.tables = {{2, kHeaderBytes, length, {}}};
  const std::uint64_t offset = kHeaderBytes + length;
  const auto end = encode_end(empty_, offset);
  const auto file = os::File::open(path_, os::Open::create).value();
  ASSERT_TRUE(file.write(0, encode_header(empty_)));
  std::vector<std::byte> head{std::byte{0xa1}, std::byte{0x66}};
  for (const char c : std::string("chunks")) head.push_back(static_cast<std::byte>(c));
  for (const unsigned byte : {0x9aU, 0x00U, 0x0fU, 0x42U, 0x40U}) head.push_back(static_cast<std::byte>(byte));
  ASSERT_TRUE(file.write(kHeaderBytes, head));
  ASSERT_TRUE(file.write(offset, end));
  EXPECT_EQ(cost(path_, base::MiB, is_refused), "");
}

// Format 4: a chunk claims 2^60 plain bytes, encoded in 16.
TEST_F(HostileSegment, OfAnExaByteInSixteenBytesIsRefusedUnread) {
  const std::uint64_t claimed = 1ULL << 60;
  const std::vector<std::byte> stored(16);
  Piece piece{
      2, claimed, {{0, 1, claimed}}, {{kHeaderBytes, claimed, {}, 0, Encoding::zstd, 16, base::hash128(stored)}}};
  const auto table = encode_table(piece, PieceForm::stored);
  empty_.alignment = 1;
  empty_.tables = {{2, kHeaderBytes + 16, table.size(), base::hash128(table)}};
  const auto file = os::File::open(path_, os::Open::create).value();
  ASSERT_TRUE(file.write(0, encode_header(empty_)));
  ASSERT_TRUE(file.write(kHeaderBytes, stored));
  ASSERT_TRUE(file.write(kHeaderBytes + 16, table));
  ASSERT_TRUE(file.write(2 * kHeaderBytes, encode_end(empty_, 2 * kHeaderBytes)));
  const auto judged = [](const ByteSource& source) {
    const auto manifest = read_manifest(source);
    return !manifest && manifest.error().code == PERDURE_UNSUPPORTED && verify(source, nullptr).empty();
  };
  EXPECT_EQ(cost(path_, base::MiB, judged), "");
}

}  // namespace
}  // namespace perdure::segment
