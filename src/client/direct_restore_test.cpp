// A restore from a store that is read past the cache verifies the device's data as ever.
#include <fcntl.h>

#include <string_view>

#include "client/ranks_testing.hpp"
#include "os/cached_pages.hpp"
#include "os/direct_file.hpp"
#include "os/hooks.hpp"
#include "segment/read_past_cache.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

/// Makes reads of segments fail, or return other data.
class StoreReads : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (!is_read(operation)) return 0;
    const bool past = (operation.flags & O_DIRECT) != 0;
    if (past) ++past_cache;
    if (past) return past_fails;
    return operation.target.size() > 4096 ? through_fails.load() : 0;
  }
  void after(const os::Operation& operation, int error) override {
    if (!is_read(operation) || error != 0 || (operation.flags & O_DIRECT) == 0) return;
    if (spoilt > 0) --spoilt, operation.target[77] ^= std::byte{1};
  }
  std::atomic<int> past_cache = 0, past_fails = 0, through_fails = 0, spoilt = 0;

 private:
  static bool is_read(const os::Operation& operation) {
    return operation.call == std::string_view("pread") && operation.path.ends_with(".pds");
  }
};

class DirectRestore : public JobOfThreads {
 protected:
  static constexpr std::size_t kWords = 5 * segment::kLeastPastCache / 4 / sizeof(std::uint64_t);
  DirectRestore() {
    ranks_ = 2;
    per_node_ = 1;
    chunks_ = "chunk_bytes=4MiB;";  // and one of 1 MiB
    more_ = "tier.order=file;retention.keep_last=9";
  }
  void SetUp() override {
    write();
    forget_cached();
    if (!direct_) GTEST_SKIP() << "this system does not read files past its cache, or does not say what is cached";
  }
  static std::vector<std::uint64_t> content(std::uint32_t rank, std::uint64_t version) {
    std::vector<std::uint64_t> all(kWords);
    for (std::size_t i = 0; i < kWords; ++i) all[i] = version << 48 | static_cast<std::uint64_t>(rank) << 32 | i;
    return all;
  }
  static void protect(Session& session, std::vector<std::uint64_t>& words) {
    ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(words.data()), 8, words.size()}));
  }
  // Stores two versions; no tier has them any more when the sessions are closed.
  void write() {
    on_sessions([&](Session& session, std::uint32_t rank) {
      for (const std::int64_t version : {1, 2}) {
        auto words = content(rank, static_cast<std::uint64_t>(version));
        protect(session, words);
        ASSERT_TRUE(session.checkpoint("app", version));
        ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_STORE, -1));
      }
    });
  }
  /// The segments of version 2.
  std::vector<std::string> segments() const {
    const std::string version = directory_.path() + "/store/app/2/";
    std::vector<std::string> paths;
    const auto entries = os::list_directory(version).value();
    for (const auto& entry : entries)
      if (entry.name.ends_with(".pds")) paths.push_back(version + entry.name);
    return paths;
  }
  void forget_cached() {
    for (const std::string& path : segments()) {
      const auto file = os::File::open(path, os::Open::read).value();
      file.drop_cached();
      const auto cached = os::cached_bytes(file, 0, file.size().value());
      direct_ = direct_ && cached && os::DirectFile::beside(file, os::DirectFile::For::reading);
    }
  }
  /// Restores the latest version on all ranks, and expects `expected`, or a failure with `code`.
  void expect_restored(std::uint64_t expected, base::ErrorCode code = PERDURE_OK) {
    const test_support::InstalledHooks installed(reads_);
    on_sessions([&](Session& session, std::uint32_t rank) {
      std::vector<std::uint64_t> words(kWords);
      protect(session, words);
      const auto restored = session.restore("app", -1, std::nullopt);
      EXPECT_EQ(restored ? PERDURE_OK : restored.error().code, code) << (restored ? "" : restored.error().text());
      if (restored) EXPECT_EQ(words, content(rank, expected)) << "rank " << rank;
    });
  }
  StoreReads reads_;
  bool direct_ = true;
};

TEST_F(DirectRestore, ReadsLongChunksPastTheCache) {
  expect_restored(2);
  EXPECT_GE(reads_.past_cache, 2 * 4) << "each rank a chunk of four blocks";
}

TEST_F(DirectRestore, ReadsNothingSoWhereItIsNotWanted) {
  more_ += ";store.direct=false";
  expect_restored(2);
  EXPECT_EQ(reads_.past_cache, 0);
}

TEST_F(DirectRestore, GoesOnThroughTheCacheWhereTheDeviceRefuses) {
  for (const int error : {EINVAL, EIO}) {
    reads_.past_fails = error;
    expect_restored(2);
    forget_cached();
  }
  EXPECT_GE(reads_.past_cache, 2);
}

TEST_F(DirectRestore, ReadsAgainWhatCameSpoilt) {
  reads_.spoilt = 1;
  expect_restored(2);
  EXPECT_EQ(reads_.spoilt, 0);
}

TEST_F(DirectRestore, LeavesAVersionOnlyForDamage) {
  reads_.past_fails = EIO;
  reads_.through_fails = EIO;
  expect_restored(0, PERDURE_IO);
}

TEST_F(DirectRestore, TakesTheOlderVersionWhereABitIsAnotherOne) {
  const auto file = os::File::open(segments().at(0), os::Open::read_write).value();
  std::vector<std::byte> byte(1);
  ASSERT_TRUE(file.read(3 * base::MiB, byte));
  byte[0] ^= std::byte{16};
  ASSERT_TRUE(file.write(3 * base::MiB, byte));
  ASSERT_TRUE(file.sync_data());
  forget_cached();
  expect_restored(1);
  EXPECT_GT(reads_.past_cache, 0);
}

}  // namespace
}  // namespace perdure::client
