#include "segment/reader.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/memory_source.hpp"
#include "support/sample_segment.hpp"
#include "support/sanitized.hpp"

namespace perdure::segment {
namespace {

using test_support::MemorySource;

const VersionId kReadId{"nbody", 7, {1700000000123456789, 42}};

std::vector<std::byte> sample_file(const std::vector<std::uint32_t>& ranks, std::uint64_t bytes,
                                   std::uint64_t chunk_bytes) {
  return test_support::sample_file(test_support::sample_manifest(kReadId, 4, 1, 2, ranks, bytes, chunk_bytes));
}

/// Returns the refusal of a file.
base::Error refusal_of(std::vector<std::byte> file) {
  MemorySource source(std::move(file), "file.pds");
  auto manifest = read_manifest(source);
  EXPECT_FALSE(manifest);
  EXPECT_FALSE(verify(source, nullptr).empty());
  EXPECT_LE(source.largest_read(), 4 * base::MiB);
  return manifest ? base::Error{} : manifest.error();
}

TEST(Reader, ReadsManifestAndEveryChunk) {
  MemorySource source(sample_file({2, 3}, 10000, 4096));
  auto manifest = read_manifest(source);
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(*manifest, test_support::sample_manifest(kReadId, 4, 1, 2, {2, 3}, 10000, 4096));
  for (const Piece& piece : manifest->pieces) {
    std::vector<std::byte> capture(piece.capture_bytes());
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      ASSERT_TRUE(read_chunk(source, piece, i, base::ByteSpan(capture).subspan(i * 4096, piece.chunks[i].length)));
    EXPECT_EQ(capture, test_support::sample_capture(kReadId, piece.rank, 10000));
  }
}

TEST(Reader, ReadsManyBlocksOfABigChunk) {
  MemorySource source(sample_file({0}, 3 * base::MiB + 5, 2 * base::MiB));
  auto manifest = read_manifest(source).value();
  std::vector<std::byte> target(2 * base::MiB);
  ASSERT_TRUE(read_chunk(source, manifest.pieces[0], 0, target));
  const auto capture = test_support::sample_capture(kReadId, 0, 3 * base::MiB + 5);
  EXPECT_TRUE(std::equal(target.begin(), target.end(), capture.begin()));
}

TEST(Reader, RefusesADamagedChunkAndSaysWhereAndWhose) {
  MemorySource source(sample_file({2, 3}, 10000, 4096), "file.pds");
  auto manifest = read_manifest(source).value();
  source.bytes()[manifest.pieces[1].chunks[2].offset + 1807] ^= std::byte{0x80};
  std::vector<std::byte> target(1808);
  auto status = read_chunk(source, manifest.pieces[1], 2, target);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(status.error().object, "file.pds");
  EXPECT_NE(status.error().cause.find("chunk 2 of rank 3 at offset 24576 (1808 bytes) damaged"), std::string::npos);
}

TEST(Reader, RefusesATargetOfAnotherSizeOrAMissingChunk) {
  MemorySource source(sample_file({2}, 10000, 4096));
  auto manifest = read_manifest(source).value();
  std::vector<std::byte> target(100);
  EXPECT_EQ(read_chunk(source, manifest.pieces[0], 0, target).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(read_chunk(source, manifest.pieces[0], 3, target).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(Reader, RefusesEmptyShortAndForeignFiles) {
  EXPECT_EQ(refusal_of({}).cause, "the file is empty");
  EXPECT_EQ(refusal_of(std::vector<std::byte>(8)).cause, "too short for a segment: 8 bytes, the smallest has 8192");
  EXPECT_EQ(refusal_of(std::vector<std::byte>(8193)).cause,
            "the size of 8193 bytes is not a multiple of 4096: the file is truncated or something was appended");
  const base::Error foreign = refusal_of(std::vector<std::byte>(16384, std::byte{'x'}));
  EXPECT_EQ(foreign.cause, "not a Perdure segment: wrong magic at offset 0");
  EXPECT_EQ(foreign.code, PERDURE_CORRUPT);
  EXPECT_EQ(foreign.object, "file.pds");
}

TEST(Reader, RefusesEveryTruncationAndWhatIsAppended) {
  const auto good = sample_file({2}, 5000, 4096);
  for (std::size_t size = 0; size < good.size(); size += size % 4096 < 64 || size % 4096 > 4000 ? 1 : 37)
    EXPECT_EQ(refusal_of(std::vector<std::byte>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))).code,
              PERDURE_CORRUPT)
        << size;
  auto longer = good;
  longer.resize(good.size() + 4096);
  EXPECT_NE(refusal_of(longer).cause.find("no trailer at offset"), std::string::npos);
  auto moved = good;  // the trailer is there, but the file has a page too many
  moved.insert(moved.begin() + 4096, 4096, std::byte{0});
  EXPECT_NE(refusal_of(moved).cause.find("says the file has"), std::string::npos);
}

TEST(Reader, RefusesANewerFormatAsUnsupportedEvenWhenTheRestIsUnknown) {
  auto file = sample_file({2}, 5000, 4096);
  file[8] = std::byte{7};
  const auto hash = base::hash128(base::ConstByteSpan(file).first(4080)).bytes();
  std::copy(hash.begin(), hash.end(), file.begin() + 4080);
  std::fill(file.end() - 4096, file.end(), std::byte{0xAA});
  const base::Error error = refusal_of(file);
  EXPECT_EQ(error.code, PERDURE_UNSUPPORTED);
  EXPECT_EQ(error.cause, "written by a newer Perdure (format 7, this one reads up to 4)");
}

// Both halves are good by themselves, and have one length.
TEST(Reader, RefusesTheHeaderOfAnotherSegment) {
  auto file = sample_file({2, 3}, 5000, 4096);
  const VersionId newer{"nbody", 8, {1700000000123456790, 43}};
  const auto other = test_support::sample_file(test_support::sample_manifest(newer, 4, 1, 2, {2, 3}, 5000, 4096));
  std::copy_n(other.begin(), kHeaderBytes, file.begin());
  const base::Error error = refusal_of(file);
  EXPECT_EQ(error.code, PERDURE_CORRUPT);
  EXPECT_EQ(error.object, "file.pds");
}

TEST(Verify, FindsNothingInAGoodSegmentAndReportsAllItsBytes) {
  for (std::uint64_t bytes : {0ULL, 1ULL, 4096ULL, 10000ULL}) {
    MemorySource source(sample_file({0, 2}, bytes, 4096));
    std::uint64_t seen = 0;
    const auto defects = verify(source, [&](std::uint64_t block) { seen += block; });
    EXPECT_TRUE(defects.empty()) << defects[0].error.text();
    EXPECT_EQ(seen, source.size());
  }
  MemorySource without_pieces(sample_file({}, 0, 4096));
  EXPECT_TRUE(verify(without_pieces, nullptr).empty());
}

/// Returns the rank that owns the byte at `offset`, with gaps counted to the chunk before; -1 outside the chunks.
std::int64_t owner(const Manifest& manifest, std::uint64_t offset, std::uint64_t manifest_offset) {
  std::int64_t rank = -1;
  if (offset >= manifest_offset) return rank;
  for (const Piece& piece : manifest.pieces)
    for (const ChunkEntry& chunk : piece.chunks)
      if (chunk.offset <= offset) rank = piece.rank;
  return rank;
}

void expect_found(const MemorySource& source, const Manifest& manifest, std::uint64_t manifest_offset, std::size_t i) {
  const auto defects = verify(source, nullptr);
  ASSERT_EQ(defects.size(), 1U) << "byte " << i;
  const Defect& defect = defects[0];
  EXPECT_EQ(defect.error.code, PERDURE_CORRUPT);
  EXPECT_EQ(defect.error.object.substr(0, 8), "file.pds");
  EXPECT_LE(defect.offset, i);
  EXPECT_GT(defect.offset + 4096, i);
  EXPECT_NE(defect.error.cause.find("offset"), std::string::npos);
  EXPECT_NE(defect.error.cause.find("rank"), std::string::npos) << defect.error.cause;
  const std::int64_t rank = owner(manifest, i, manifest_offset);
  if (manifest.pieces.size() == 1) {
    EXPECT_EQ(defect.rank, manifest.pieces[0].rank) << "byte " << i;
  } else {
    EXPECT_EQ(defect.rank, rank) << "byte " << i;
  }
}

TEST(Verify, FindsEveryFlippedByteOfASegmentOfTwoRanks) {
  Manifest manifest = test_support::sample_manifest(kReadId, 4, 1, 2, {2, 3}, 5000, 4096);
  const std::uint64_t manifest_offset = lay_out(manifest);
  MemorySource source(test_support::sample_file(manifest), "file.pds");
  for (std::size_t i = 0; i < source.bytes().size(); i += test_support::unless_sanitized(1, 13)) {
    source.bytes()[i] ^= std::byte{0x10};
    ASSERT_NO_FATAL_FAILURE(expect_found(source, manifest, manifest_offset, i));
    source.bytes()[i] ^= std::byte{0x10};
  }
}

TEST(Verify, NamesTheOnlyRankOfASegmentWhereverAByteIsFlipped) {
  Manifest manifest = test_support::sample_manifest(kReadId, 4, 1, 2, {3}, 100, 4096);
  const std::uint64_t manifest_offset = lay_out(manifest);
  MemorySource source(test_support::sample_file(manifest), "file.pds");
  for (std::size_t i = 0; i < source.bytes().size(); i += test_support::unless_sanitized(1, 13)) {
    source.bytes()[i] ^= std::byte{0x01};
    ASSERT_NO_FATAL_FAILURE(expect_found(source, manifest, manifest_offset, i));
    source.bytes()[i] ^= std::byte{0x01};
  }
}

TEST(Verify, FindsARandomFlippedBitOfABigSegment) {
  std::mt19937_64 random(20260101);
  MemorySource source(sample_file({0, 1, 3}, 700001, 65536));
  for (int round = 0; round < 60; ++round) {
    const std::size_t i = random() % source.size();
    const auto bit = static_cast<std::byte>(1U << (random() % 8));
    source.bytes()[i] ^= bit;
    const auto defects = verify(source, nullptr);
    ASSERT_FALSE(defects.empty()) << "byte " << i;
    EXPECT_LE(defects[0].offset, i);
    source.bytes()[i] ^= bit;
  }
}

TEST(Verify, FindsEveryDefectNotOnlyTheFirst) {
  MemorySource source(sample_file({2, 3}, 5000, 4096));
  for (std::size_t i : {100, 4096, 8192, 9200, 12288}) source.bytes()[i] ^= std::byte{1};
  const auto defects = verify(source, nullptr);
  ASSERT_EQ(defects.size(), 5U);
  EXPECT_EQ(defects[0].offset, 0U);
  EXPECT_EQ(defects[3].offset, 9200U);
  EXPECT_EQ(defects[4].rank, 3);
  EXPECT_EQ(defects[4].chunk, 0);
}

TEST(Verify, NamesNoRanksOfAFileThatDoesNotSayWhoseItIs) {
  for (const std::size_t size : {8U, 8193U, 16384U}) {
    const auto defects = verify(MemorySource(std::vector<std::byte>(size, std::byte{'x'})), nullptr);
    ASSERT_FALSE(defects.empty()) << size;
    for (const Defect& defect : defects) {
      EXPECT_EQ(defect.rank, -1) << size;
      EXPECT_EQ(defect.error.cause.find("it holds"), std::string::npos) << defect.error.cause;
    }
  }
}

/// Fails to read one place, as a bad sector does.
class BadSector : public MemorySource {
 public:
  using MemorySource::MemorySource;
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override {
    if (offset <= 8192 && offset + target.size() > 8192) return base::fail(PERDURE_IO, name(), "pread: bad sector");
    return MemorySource::read(offset, target);
  }
};

TEST(Verify, ReportsWhatCannotBeReadAndGoesOn) {
  BadSector source(sample_file({2, 3}, 5000, 4096));
  source.bytes()[12288] ^= std::byte{1};
  const auto defects = verify(source, nullptr);
  ASSERT_EQ(defects.size(), 2U);
  EXPECT_EQ(defects[0].error.code, PERDURE_IO);
  EXPECT_EQ(defects[0].rank, 2);
  EXPECT_EQ(defects[0].chunk, 1);
  EXPECT_EQ(defects[1].rank, 3);
}

}  // namespace
}  // namespace perdure::segment
