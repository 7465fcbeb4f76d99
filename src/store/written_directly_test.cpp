// Segments are written past the cache (O_DIRECT), on file systems that take that, refuse it, or take less at a time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>

#include "os/direct_file.hpp"
#include "os/hooks.hpp"
#include "support/directory_on.hpp"
#include "support/sanitized.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using test_support::FileSystem;

/// The system's answers to writes past the cache, and others.
struct Answers {
  int opens = 0;                       ///< error of each open past the cache
  int writes = 0, from = 0;            ///< error of each write past it, from that one on
  int cached = 0;                      ///< error of each other write
  std::size_t most = ~std::size_t{0};  ///< bytes that a write past the cache takes
};

class DirectCalls : public os::Hooks {
 public:
  explicit DirectCalls(const Answers& answers = {}) : answers_(answers) { os::install_hooks(this); }
  ~DirectCalls() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    const bool direct = (operation.flags & O_DIRECT) != 0;
    if (operation.call == std::string_view("open")) {
      opens += direct ? 1 : 0;
      return direct ? answers_.opens : 0;
    }
    if (operation.call == std::string_view("sync_file_range")) write_backs += 1;
    if (operation.call != std::string_view("pwrite")) return 0;
    if (!direct) {
      cached_bytes += operation.data.size();
      return answers_.cached;
    }
    return calls++ >= answers_.from ? answers_.writes : 0;
  }
  std::size_t most(const os::Operation& operation, std::size_t asked) override {
    return is_direct_write(operation) ? std::min(asked, answers_.most) : asked;
  }
  void after(const os::Operation& operation, int error) override {
    if (!is_direct_write(operation)) return;
    if (error == 0) direct_bytes += std::min(operation.data.size(), answers_.most);
    if (error != 0) ++failed;
  }
  std::atomic<std::uint64_t> direct_bytes = 0, cached_bytes = 0;
  std::atomic<int> write_backs = 0, opens = 0, calls = 0, failed = 0;

 private:
  static bool is_direct_write(const os::Operation& operation) {
    return operation.call == std::string_view("pwrite") && (operation.flags & O_DIRECT) != 0;
  }
  const Answers answers_;
};

class WrittenDirectly : public testing::TestWithParam<FileSystem> {
 protected:
  void SetUp() override {
    if (!directory_.missing().empty()) GTEST_SKIP() << directory_.missing();
    ASSERT_TRUE(store_->prepare());
    const auto probe = os::File::open(directory_ / "probe", os::Open::create).value();
    if (!os::DirectFile::beside(probe)) GTEST_SKIP() << "this file system has no direct I/O";
  }
  base::Status write() { return test_support::write_segment(*store_, manifest_, kBlock); }
  /// Gives the defect of the stored data; empty: it is the written data.
  std::string stored() { return test_support::check_version(*store_, store_->list("nbody").value().at(0)); }

  static constexpr std::size_t kBlock = 256 * base::KiB, kMost = 64 * base::KiB;
  const segment::VersionId id_{"nbody", 1, {1000, 7}};
  const segment::Manifest manifest_ = test_support::sample_manifest(id_, 1, 0, 1, {0}, 10 * kBlock, kBlock);
  const std::uint64_t bytes_ = test_support::sample_file(manifest_).size();
  test_support::DirectoryOn directory_{GetParam()};
  const std::string root_ = directory_ / "store";
  std::unique_ptr<Store> store_ = make_store(root_).value();
};
std::string file_system_name(const testing::TestParamInfo<FileSystem>& info) { return name_of(info.param); }
constexpr FileSystem kWithDirect[] = {FileSystem::usual, FileSystem::sectors_of_4k, FileSystem::overlay};
INSTANTIATE_TEST_SUITE_P(On, WrittenDirectly,
                         testing::ValuesIn(kWithDirect,
                                           kWithDirect +
                                               test_support::unless_sanitized(std::size(kWithDirect), std::size_t{1})),
                         file_system_name);

TEST_P(WrittenDirectly, IsWhatIsAlignedAndTheRestThroughTheCache) {
  DirectCalls calls;
  ASSERT_TRUE(write());
  EXPECT_EQ(calls.direct_bytes, bytes_ / kBlock * kBlock);
  EXPECT_EQ(calls.cached_bytes, bytes_ % kBlock) << "which is short";
  EXPECT_LE(calls.write_backs, 1);
  EXPECT_EQ(stored(), "");
}

TEST_P(WrittenDirectly, IsNothingThatIsNotAligned) {
  DirectCalls calls;
  const test_support::PageAligned file(test_support::sample_file(manifest_));
  auto sink = store_->begin(manifest_, bytes_).value();
  constexpr std::uint64_t kAwry = kBlock + 8;
  ASSERT_TRUE(sink->write(0, file.span().first(8)));
  for (std::uint64_t done = 8; done < bytes_; done += kAwry)
    ASSERT_TRUE(sink->write(done, file.span().subspan(done, std::min<std::uint64_t>(kAwry, bytes_ - done))));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(calls.direct_bytes, 0U);
  EXPECT_EQ(stored(), "");
}

TEST_P(WrittenDirectly, IsNothingWhereItIsNotWanted) {
  DirectCalls calls;
  const auto store = make_store(root_, {{"direct", "false"}}).value();
  ASSERT_TRUE(test_support::write_segment(*store, manifest_, kBlock));
  EXPECT_EQ(calls.direct_bytes, 0U);
  EXPECT_EQ(stored(), "");
}

TEST_P(WrittenDirectly, IsNothingWhereTheFileSystemRefusesToOpen) {
  DirectCalls calls({.opens = EINVAL});
  ASSERT_TRUE(write());
  EXPECT_EQ(calls.cached_bytes, bytes_);
  EXPECT_EQ(stored(), "");
}

TEST_P(WrittenDirectly, GoesOnThroughTheCacheWhereTheFileSystemRefusesAtSomeBlock) {
  for (const int refused_from : {0, 1, 7}) {
    DirectCalls calls({.writes = EINVAL, .from = refused_from});
    ASSERT_TRUE(write()) << refused_from;
    EXPECT_EQ(calls.calls, refused_from + 1) << "it is asked no more";
    EXPECT_EQ(stored(), "");
    ASSERT_TRUE(store_->remove(id_));
  }
}

TEST_P(WrittenDirectly, EndsInItsRestThroughTheCache) {
  DirectCalls calls;
  const std::uint64_t whole = bytes_ / 4096 * 4096 - 4096, odd = whole + 612;
  const test_support::PageAligned file(test_support::sample_file(manifest_));
  auto sink = store_->begin(manifest_, bytes_).value();
  ASSERT_TRUE(sink->write(0, file.span().first(odd)));
  EXPECT_EQ(calls.direct_bytes, whole);
  EXPECT_EQ(calls.failed, 0) << "whatever the size of the device's sectors";
  EXPECT_EQ(calls.cached_bytes, 612U);
  ASSERT_TRUE(sink->write(odd, file.span().subspan(odd)));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(stored(), "");
}

TEST_P(WrittenDirectly, FailsAsAnyWriteDoesWhereTheCacheFailsToo) {
  for (const int error : {EIO, ENOSPC}) {
    {
      DirectCalls calls({.writes = error, .from = 2});
      ASSERT_TRUE(write()) << "only O_DIRECT is the matter";
      EXPECT_EQ(stored(), "");
      ASSERT_TRUE(store_->remove(id_));
    }
    DirectCalls calls({.writes = error, .from = 2, .cached = error});
    const auto written = write();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, error == EIO ? PERDURE_IO : PERDURE_NO_SPACE) << written.error().text();
    EXPECT_THAT(store_->list("nbody").value(), testing::IsEmpty());
  }
}

TEST_P(WrittenDirectly, IsReadByWhoGoesOnWithIt) {
  {
    const test_support::PageAligned file(test_support::sample_file(manifest_));
    auto sink = store_->begin(manifest_, bytes_).value();
    ASSERT_TRUE(sink->write(0, file.span().first(bytes_ / 2)));
    std::vector<std::byte> read(bytes_ / 2);
    ASSERT_TRUE(sink->read(0, read));
    EXPECT_TRUE(std::equal(read.begin(), read.end(), file.span().begin()));
    sink->keep(true);
  }
  const test_support::PageAligned file(test_support::sample_file(manifest_));
  auto sink = store_->resume(manifest_, bytes_).value();
  ASSERT_TRUE(sink->write(bytes_ / 2, file.span().subspan(bytes_ / 2)));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(stored(), "");
}

// An aligned rest is written directly, too; an unaligned one is refused if sectors are larger.
TEST_P(WrittenDirectly, GoesOnWhereTheSystemTakesLessAtATime) {
  {
    DirectCalls calls({.most = kMost});
    ASSERT_TRUE(write());
    EXPECT_EQ(calls.direct_bytes, bytes_ / kBlock * kBlock);
    EXPECT_EQ(calls.calls, static_cast<int>(bytes_ / kBlock * kBlock / kMost));
    EXPECT_EQ(stored(), "");
    ASSERT_TRUE(store_->remove(id_));
  }
  for (const std::size_t most : {9 * std::size_t{512}, std::size_t{1000}}) {
    DirectCalls calls({.most = most});
    ASSERT_TRUE(write()) << most;
    EXPECT_EQ(stored(), "") << most;
    ASSERT_TRUE(store_->remove(id_));
  }
}

TEST_P(WrittenDirectly, IsWrittenAgainThroughTheCacheWhereItFailsInTheMidstOfABlock) {
  for (const int error : {EIO, EINVAL, ENOSPC}) {
    {
      DirectCalls calls({.writes = error, .from = 5, .most = kMost});  // of four for each block
      ASSERT_TRUE(write()) << error;
      EXPECT_EQ(calls.direct_bytes, 5 * kMost);
      EXPECT_EQ(calls.cached_bytes, bytes_ - kBlock) << "all of the second block";
      EXPECT_EQ(calls.failed, 1) << "it is asked no more";
      EXPECT_EQ(stored(), "");
      ASSERT_TRUE(store_->remove(id_));
    }
    DirectCalls calls({.writes = error, .from = 5, .cached = error, .most = kMost});
    EXPECT_FALSE(write()) << error;
    EXPECT_THAT(store_->list("nbody").value(), testing::IsEmpty());
  }
}

class WrittenInMemory : public WrittenDirectly {
 protected:
  void SetUp() override {
    if (!directory_.missing().empty()) GTEST_SKIP() << directory_.missing();
    ASSERT_TRUE(store_->prepare());
  }
};
INSTANTIATE_TEST_SUITE_P(On, WrittenInMemory, testing::Values(FileSystem::memory), file_system_name);

TEST_P(WrittenInMemory, IsNothingDirectly) {
  DirectCalls calls;
  ASSERT_TRUE(write());
  EXPECT_EQ(calls.opens, 0);
  EXPECT_EQ(calls.cached_bytes, bytes_);
  EXPECT_EQ(stored(), "");
}

}  // namespace
}  // namespace perdure::store
