// A restore waits for versions that are on their way to the store, and not for ever.
#include "client/flush_waits.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "client/ranks_testing.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

/// A store that publishes no segment of version 2: it fails, or does not answer until it is released.
class BrokenStore : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const bool is_segment = operation.path.find("/store/app/2/.tmp-") != std::string::npos;
    if (std::string_view(operation.call) != "fdatasync" || !is_segment) return 0;
    std::unique_lock lock(mutex_);
    if (!hangs_) return EIO;
    released_.wait(lock, [this] { return is_released_; });  // wait: the test releases it
    return 0;
  }
  void hang() {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    released_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool hangs_ = false, is_released_ = false;
};

/// Makes the clock of this process jump now and then. In between an engine has the time to end a wait: it excuses the
/// time of a jump, as that of a suspension.
class JumpingClock {
 public:
  JumpingClock() = default;
  JumpingClock(const JumpingClock&) = delete;
  JumpingClock& operator=(const JumpingClock&) = delete;
  ~JumpingClock() { os::shift_monotonic_clock(-shifted_ns_); }
  void may_jump() {
    const auto now = Clock::now();
    if (now - jumped_ < std::chrono::seconds(1)) return;
    jumped_ = now;
    constexpr std::int64_t kJump_ns = 3'600'000'000'000;
    os::shift_monotonic_clock(kJump_ns);
    shifted_ns_ += kJump_ns;
  }

 private:
  using Clock = std::chrono::steady_clock;  // which does not jump
  Clock::time_point jumped_ = Clock::now();
  std::int64_t shifted_ns_ = 0;
};

class HalfFlushedVersion : public JobOfThreads {};

// It fills more than the tiers, so a part of it is in unpublished segments. One of its ranks runs on
// another node when the job starts again.
TEST_F(HalfFlushedVersion, IsPassedOverWithItsReasonWhereTheStoreHangs) {
  BrokenStore store;
  const test_support::InstalledHooks installed(store);
  more_ = "tier.order=file;tier.file.max_bytes=256KiB;";
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    write(job, 2);
  });
  store.hang();
  per_node_ = 3;
  JumpingClock clock;
  std::atomic<bool> restores = false, chosen = false;
  std::thread time([&] {
    EXPECT_TRUE(test_support::eventually("an older version is taken", [&] {
      if (restores) clock.may_jump();
      return chosen.load();
    }));
    store.release();
  });
  on_ranks([&](Job& job) {
    restores = true;
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id().version, 1U);
    ASSERT_EQ(reader.passed_over().size(), 1U);
    EXPECT_EQ(reader.passed_over().front().id.version, 2U);
    EXPECT_THAT(reader.passed_over().front().why, testing::HasSubstr("did not end while the restore waited"));
    reader.release();
    ASSERT_TRUE(job.comm().barrier());
    chosen = true;
  });
  chosen = true;
  time.join();
}

TEST(FlushWaits, CountsTimeInWhichFlushesFailOrMoveNothing) {
  ipc::FlushProgress before, now;
  before.bytes_moved = now.bytes_moved = 100;
  EXPECT_EQ(lost_between(before, now, 7), 7U);
  now.bytes_moved = 101;
  EXPECT_EQ(lost_between(before, now, 7), 0U) << "a flush that is only slow is waited for";
  now.store_failing = true;
  EXPECT_EQ(lost_between(before, now, 7), 7U) << "it moves the same again and again";
}

}  // namespace
}  // namespace perdure::client
