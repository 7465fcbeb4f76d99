// Segments are read past the cache (O_DIRECT), on file systems that take that, refuse it, or give less at a time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <string_view>

#include "os/cached_pages.hpp"
#include "os/direct_file.hpp"
#include "segment/direct_stream.hpp"
#include "segment/read_past_cache.hpp"
#include "support/directory_on.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using segment::DirectStream;
using test_support::FileSystem;

/// The system's answers to reads past the cache, and others.
struct ReadAnswers {
  int opens = 0;                       ///< error of each open past the cache
  int reads = 0, from = 0;             ///< error of each read past it, from that one on
  int cached = 0;                      ///< error of each other read
  int residency = 0;                   ///< error of each question for the cache's content
  int threads = 0, bodies = 0;         ///< error of each thread, and of its body
  int memory = 0;                      ///< error of each mapping
  bool thrown = false;                 ///< memory that reads past the cache need is refused
  int spoilt = -1;                     ///< number of the read past the cache that has a wrong bit
  std::size_t most = ~std::size_t{0};  ///< bytes that a read past the cache gives
};

class DirectReads : public os::Hooks {
 public:
  explicit DirectReads(const ReadAnswers& answers = {}) : answers_(answers), installed_(*this) {}
  int before(const os::Operation& operation) override {
    const std::string_view call = operation.call;
    const bool direct = (operation.flags & O_DIRECT) != 0;
    if (call == "open") {
      opens += direct ? 1 : 0;
      return direct ? answers_.opens : 0;
    }
    if (call == "cachestat") {
      ++questions;
      return answers_.residency;
    }
    if (call == "thread") return answers_.threads;
    if (call == "thread_body") return answers_.bodies;
    if (call == "mmap") {
      ++mappings;
      return answers_.memory;
    }
    if (call != "pread") return 0;
    if (!direct) {
      cached_bytes += operation.target.size();
      return answers_.cached;
    }
    if (answers_.thrown) throw std::bad_alloc();
    return calls++ >= answers_.from ? answers_.reads : 0;
  }
  std::size_t most(const os::Operation& operation, std::size_t asked) override {
    return is_direct_read(operation) ? std::min(asked, answers_.most) : asked;
  }
  void after(const os::Operation& operation, int error) override {
    if (!is_direct_read(operation) || error != 0) return;
    direct_bytes += std::min(operation.target.size(), answers_.most);
    if (successes++ == answers_.spoilt) operation.target[1000] ^= std::byte{4};
  }
  std::atomic<std::uint64_t> direct_bytes = 0, cached_bytes = 0;
  std::atomic<int> opens = 0, calls = 0, successes = 0, questions = 0, mappings = 0;

 private:
  static bool is_direct_read(const os::Operation& operation) {
    return operation.call == std::string_view("pread") && (operation.flags & O_DIRECT) != 0;
  }
  const ReadAnswers answers_;
  const test_support::InstalledHooks installed_;
};

class ReadDirectly : public testing::TestWithParam<FileSystem> {
 protected:
  void SetUp() override {
    if (!directory_.missing().empty()) GTEST_SKIP() << directory_.missing();
    ASSERT_TRUE(store_->prepare());
    ASSERT_TRUE(test_support::write_segment(*store_, manifest_, 256 * base::KiB));
    const auto probe = os::File::open(path(), os::Open::read).value();
    if (!os::DirectFile::beside(probe, os::DirectFile::For::reading))
      GTEST_SKIP() << "this file system has no direct I/O";
    probe.drop_cached();
    if (!os::cached_bytes(probe, 0, bytes_.size())) GTEST_SKIP() << "this system does not say what is cached";
  }
  std::string path() const { return root_ + "/" + store_->list("nbody").value().at(0).segments.at(0).path; }
  std::unique_ptr<segment::ByteSource> open() { return open(*store_); }
  static std::unique_ptr<segment::ByteSource> open(Store& store) {
    return store.open(store.list("nbody").value().at(0).segments.at(0)).value();
  }
  const segment::ChunkEntry& chunk(std::size_t index) const { return manifest_.pieces[0].chunks[index]; }
  /// Reads on in pieces of so many bytes, to memory that begins anywhere; returns the defect, or nothing.
  std::string read(segment::ByteStream& stream, std::uint64_t offset, std::uint64_t bytes, base::Hasher& hasher,
                   std::size_t piece = base::MiB) const {
    std::vector<std::byte> memory(bytes + 1);
    const auto target = base::ByteSpan(memory).subspan(1);
    for (std::size_t done = 0; done < bytes; done += piece)
      if (const auto got = stream.read(target.subspan(done, std::min(piece, bytes - done)), hasher); !got)
        return got.error().text();
    const bool same = std::equal(target.begin(), target.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return same ? "" : "it is something else";
  }
  /// Does the same for a whole chunk, with its hash.
  std::string read_chunk(const segment::ByteSource& source, std::size_t index, std::size_t piece = base::MiB) const {
    base::Hasher hasher;
    const auto stream = source.stream(chunk(index).offset, chunk(index).length);
    if (auto wrong = read(*stream, chunk(index).offset, chunk(index).length, hasher, piece); !wrong.empty())
      return wrong;
    return hasher.digest() == chunk(index).hash ? "" : "its hash is another one";
  }
  static std::uint64_t in_pages(std::uint64_t bytes) { return base::round_up(bytes, os::DirectFile::kAlignment); }

  // The rest of the last block of a chunk ends within a page.
  static constexpr std::uint64_t kChunk = segment::kLeastPastCache + base::MiB / 2 + 100;
  const segment::VersionId id_{"nbody", 1, {1000, 7}};
  const segment::Manifest manifest_ = test_support::sample_manifest(id_, 1, 0, 1, {0}, 2 * kChunk + 50'000, kChunk);
  const std::vector<std::byte> bytes_ = test_support::sample_file(manifest_);
  test_support::DirectoryOn directory_{GetParam()};
  const std::string root_ = directory_ / "store";
  std::unique_ptr<Store> store_ = make_store(root_).value();
};
std::string name_of_file_system(const testing::TestParamInfo<FileSystem>& info) { return name_of(info.param); }
constexpr FileSystem kReadDirectly[] = {FileSystem::usual, FileSystem::sectors_of_4k};
INSTANTIATE_TEST_SUITE_P(On, ReadDirectly,
                         testing::ValuesIn(kReadDirectly,
                                           kReadDirectly + test_support::unless_sanitized(std::size(kReadDirectly),
                                                                                          std::size_t{1})),
                         name_of_file_system);

TEST_P(ReadDirectly, IsAWholeChunkAndNothingOfItIsLeftInTheCache) {
  DirectReads calls;
  const auto source = open();
  for (const std::size_t index : {0U, 1U}) EXPECT_EQ(read_chunk(*source, index), "");
  EXPECT_EQ(calls.direct_bytes, 2 * in_pages(kChunk));
  EXPECT_EQ(calls.cached_bytes, 0U);
  EXPECT_EQ(calls.opens, 1);
  const auto file = os::File::open(path(), os::Open::read).value();
  EXPECT_EQ(os::cached_bytes(file, chunk(0).offset, kChunk)->there, 0U);
}

TEST_P(ReadDirectly, IsTheSameInPiecesOfAnySize) {
  DirectReads calls;
  const auto source = open();
  for (const std::size_t piece : {std::size_t{4095}, std::size_t{70'001}, kChunk}) {
    calls.direct_bytes = 0;
    EXPECT_EQ(read_chunk(*source, 1, piece), "") << piece;
    EXPECT_EQ(calls.direct_bytes, in_pages(kChunk));
  }
}

TEST_P(ReadDirectly, BeginsAnywhereAndGoesOnBehindWhatWasAskedFor) {
  DirectReads calls;
  const auto source = open();
  const std::uint64_t begin = chunk(0).offset + 1001;
  const auto stream = source->stream(begin, kChunk - 5000);
  base::Hasher hasher;
  EXPECT_EQ(read(*stream, begin, kChunk + 9000, hasher), "");
  EXPECT_GT(calls.direct_bytes, kChunk - 10'000);
  EXPECT_GE(calls.cached_bytes, 9000U);
}

TEST_P(ReadDirectly, IsNothingShort) {
  DirectReads calls;
  const auto source = open();
  EXPECT_EQ(read_chunk(*source, 2), "");
  EXPECT_EQ(calls.opens + calls.questions, 0);
}

TEST_P(ReadDirectly, IsNothingWhereItIsNotWanted) {
  DirectReads calls;
  const auto store = make_store(root_, {{"direct", "false"}}).value();
  EXPECT_EQ(read_chunk(*open(*store), 0), "");
  EXPECT_EQ(calls.opens + calls.questions, 0);
}

TEST_P(ReadDirectly, IsNothingThatTheCacheHas) {
  const auto source = open();
  std::vector<std::byte> all(bytes_.size());
  ASSERT_TRUE(source->read(0, all));
  DirectReads calls;
  EXPECT_EQ(read_chunk(*source, 0), "");
  EXPECT_EQ(calls.calls, 0);
}

TEST_P(ReadDirectly, IsNothingThatIsNotOnTheDeviceYet) {
  const auto source = open();
  const auto file = os::File::open(path(), os::Open::read_write).value();
  ASSERT_TRUE(file.write(chunk(0).offset, base::ConstByteSpan(bytes_).subspan(chunk(0).offset, 4096)));
  DirectReads calls;
  EXPECT_EQ(read_chunk(*source, 0), "");
  EXPECT_EQ(calls.calls, 0);
}

TEST_P(ReadDirectly, IsNothingWhereTheSystemDoesNotSayWhatIsCached) {
  for (const int error : {ENOSYS, EPERM}) {
    DirectReads calls({.residency = error});
    EXPECT_EQ(read_chunk(*open(), 0), "");
    EXPECT_EQ(calls.calls, 0);
    EXPECT_EQ(calls.cached_bytes, kChunk);
    os::File::open(path(), os::Open::read)->drop_cached();
  }
}

TEST_P(ReadDirectly, IsNothingWhereTheFileSystemRefusesToOpen) {
  for (const int error : {EINVAL, EACCES, ENOENT}) {
    DirectReads calls({.opens = error});
    const auto source = open();
    for (const std::size_t index : {0U, 1U}) EXPECT_EQ(read_chunk(*source, index), "") << error;
    EXPECT_EQ(calls.opens, 1) << "it is asked once for each file";
    EXPECT_EQ(calls.calls, 0);
    os::File::open(path(), os::Open::read)->drop_cached();
  }
}

TEST_P(ReadDirectly, GoesOnThroughTheCacheWhereABlockIsRefusedOrFails) {
  for (const int error : {EINVAL, EIO})
    for (const int from : {0, 1, 4}) {
      DirectReads calls({.reads = error, .from = from});
      const auto source = open();
      EXPECT_EQ(read_chunk(*source, 0), "") << error << " from " << from;
      EXPECT_GT(calls.cached_bytes, 0U);
      const int asked = calls.calls;
      EXPECT_LE(asked, from + static_cast<int>(DirectStream::kBlocks));
      EXPECT_EQ(read_chunk(*source, 1), "");
      EXPECT_EQ(calls.calls, asked) << "it is asked no more";
      os::File::open(path(), os::Open::read)->drop_cached();
    }
}

TEST_P(ReadDirectly, SaysWhatFailsBothWays) {
  DirectReads calls({.reads = EIO, .from = 2, .cached = EIO});
  const auto source = open();
  const auto stream = source->stream(chunk(0).offset, kChunk);
  std::vector<std::byte> memory(kChunk);
  base::Hasher hasher;
  const auto outcome = stream->read(memory, hasher);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, PERDURE_IO) << outcome.error().text();
  EXPECT_THAT(outcome.error().text(), testing::HasSubstr("pread"));
}

// An aligned rest is read directly, too; an unaligned one is refused if sectors are larger.
TEST_P(ReadDirectly, GoesOnWhereTheSystemGivesLessAtATime) {
  {
    constexpr std::size_t kMost = 64 * base::KiB;
    DirectReads calls({.most = kMost});
    EXPECT_EQ(read_chunk(*open(), 0), "");
    EXPECT_EQ(calls.cached_bytes, 0U);
    EXPECT_EQ(calls.calls, static_cast<int>(base::round_up(kChunk, kMost) / kMost));
  }
  for (const std::size_t most : {9 * std::size_t{512}, std::size_t{1000}}) {
    DirectReads calls({.most = most});
    EXPECT_EQ(read_chunk(*open(), 0), "") << most;
    os::File::open(path(), os::Open::read)->drop_cached();
  }
}

TEST_P(ReadDirectly, SaysWhereAFileEndsThatWasCut) {
  const auto source = open();
  const std::uint64_t ends = chunk(1).offset + kChunk / 2 + 77;
  ASSERT_TRUE(os::File::open(path(), os::Open::read_write)->truncate(ends));
  DirectReads calls;
  EXPECT_EQ(read_chunk(*source, 0), "");
  const std::string wrong = read_chunk(*source, 1);
  EXPECT_THAT(wrong, testing::HasSubstr("the file ends after " + std::to_string(ends) + " bytes"));
  EXPECT_THAT(read_chunk(*open(), 1), testing::HasSubstr("the file ends after")) << "opened when it was short already";
}

TEST_P(ReadDirectly, IsHashedAsItIsRead) {
  for (const int spoilt : {0, 3}) {
    DirectReads calls({.spoilt = spoilt});
    EXPECT_EQ(read_chunk(*open(), 0), "it is something else");
  }
  DirectReads calls({.spoilt = 1});
  base::Hasher hasher;
  const auto source = open();
  (void)read(*source->stream(chunk(0).offset, kChunk), chunk(0).offset, kChunk, hasher);
  EXPECT_NE(hasher.digest(), chunk(0).hash);
}

TEST_P(ReadDirectly, NeedsNoThreads) {
  for (const ReadAnswers& refused : {ReadAnswers{.threads = EAGAIN}, ReadAnswers{.bodies = ENOMEM}}) {
    DirectReads calls(refused);
    EXPECT_EQ(read_chunk(*open(), 0), "");
    EXPECT_EQ(calls.direct_bytes, in_pages(kChunk));
  }
}

TEST_P(ReadDirectly, IsNothingWhereMemoryIsRefused) {
  DirectReads calls({.memory = ENOMEM});
  EXPECT_EQ(read_chunk(*open(), 0), "");
  EXPECT_EQ(calls.calls, 0);
  EXPECT_EQ(calls.mappings, 1);
}

TEST_P(ReadDirectly, GoesOnThroughTheCacheWhereMemoryIsRefusedMeanwhile) {
  DirectReads calls({.thrown = true});
  EXPECT_EQ(read_chunk(*open(), 0), "");
  EXPECT_GT(calls.cached_bytes, 0U);
}

TEST_P(ReadDirectly, TakesBoundedMemoryHoweverManyReadAtATime) {
  DirectReads calls;
  const auto source = open();
  std::vector<std::unique_ptr<segment::ByteStream>> streams;
  for (int i = 0; i < DirectStream::kMostStreams + 2; ++i) streams.push_back(source->stream(chunk(0).offset, kChunk));
  EXPECT_EQ(calls.mappings, DirectStream::kMostStreams);
  for (const auto& stream : streams) {
    base::Hasher hasher;
    EXPECT_EQ(read(*stream, chunk(0).offset, kChunk, hasher), "");
    EXPECT_EQ(hasher.digest(), chunk(0).hash);
  }
  streams.clear();
  os::File::open(path(), os::Open::read)->drop_cached();
  EXPECT_EQ(read_chunk(*source, 1), "");
  EXPECT_EQ(calls.mappings, DirectStream::kMostStreams + 1) << "those have ended";
}

TEST_P(ReadDirectly, MayEndBeforeItsEnd) {
  DirectReads calls;
  const auto source = open();
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{100}, 2 * base::MiB}) {
    base::Hasher hasher;
    const auto stream = source->stream(chunk(0).offset, kChunk);
    EXPECT_EQ(read(*stream, chunk(0).offset, bytes, hasher), "");
  }
  EXPECT_LE(calls.direct_bytes, 3 * in_pages(kChunk));
}

class ReadElsewhere : public ReadDirectly {
 protected:
  void SetUp() override {
    if (!directory_.missing().empty()) GTEST_SKIP() << directory_.missing();
    ASSERT_TRUE(store_->prepare());
    ASSERT_TRUE(test_support::write_segment(*store_, manifest_, 256 * base::KiB));
  }
};
INSTANTIATE_TEST_SUITE_P(On, ReadElsewhere, testing::Values(FileSystem::memory, FileSystem::overlay),
                         name_of_file_system);

// The answer of an overlay about its own file holds for the one below.
TEST_P(ReadElsewhere, IsReadThroughTheCacheWhereTheFileIsMemoryOrTheSystemCannotSayWhatIsCached) {
  DirectReads calls;
  const auto source = open();
  for (const std::size_t index : {0U, 1U, 2U}) EXPECT_EQ(read_chunk(*source, index), "");
  EXPECT_EQ(calls.calls, 0);
  const auto file = os::File::open(path(), os::Open::read).value();
  EXPECT_EQ(os::cached_bytes(file, 0, bytes_.size()).has_value(), GetParam() == FileSystem::memory);
}

}  // namespace
}  // namespace perdure::store
