// Tests how tests wait: until something comes, and until nothing is left to come (tests/support).
#include <gmock/gmock.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "support/eventually.hpp"
#include "support/quiescent.hpp"

namespace perdure::os {
namespace {

using test_support::all_sleep_for;
using test_support::comes_within;
using test_support::eventually;
using test_support::quiescent;

TEST(Eventually, LooksUntilItComesAndNoFurther) {
  int looks = 0;
  EXPECT_TRUE(eventually("the third look", [&] { return ++looks == 3; }));
  EXPECT_EQ(looks, 3);
}

TEST(Eventually, SaysWhereAndWhatDidNotCome) {
  testing::internal::CaptureStderr();
  int looks = 0;
  EXPECT_FALSE(comes_within(
      std::chrono::nanoseconds(0), "the flush begins", [&] { return ++looks == 0; }, __builtin_FILE(),
      __builtin_LINE()));
  EXPECT_EQ(looks, 1) << "it looks once, whatever its limit";
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex(".*waits_test.cpp:[0-9]+: this did not come: the flush begins \\(0 s\\)\n"));
}

TEST(Eventually, SaysWhatItStillWaitsForBeforeItGivesUp) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(comes_within(
      std::chrono::milliseconds(30), "the flush begins", [] { return false; }, __builtin_FILE(), __builtin_LINE()));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("still waits for: the flush begins"));
}

/// Threads that wake one another in turn, each after computing for a while.
class Chain {
 public:
  explicit Chain(std::size_t length) : turns_(length + 1) {
    for (std::size_t i = 0; i < length; ++i)
      threads_.emplace_back([this, i] {
        while (true) {
          const int turn = turns_[i];
          if (turn < 0) return;
          if (turn == turns_[i + 1]) {
            turns_[i].wait(turn);
            continue;
          }
          for (int computes = 0; computes < 10'000; ++computes) asm volatile("" ::: "memory");
          set(i + 1, turn);
        }
      });
  }
  ~Chain() {
    for (std::size_t i = 0; i < threads_.size(); ++i) set(i, -1);
    for (auto& thread : threads_) thread.join();
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  void begin(int turn) { set(0, turn); }
  int ended() const { return turns_.back(); }

 private:
  void set(std::size_t which, int turn) {
    turns_[which] = turn;
    turns_[which].notify_all();
  }
  std::vector<std::atomic<int>> turns_;
  std::vector<std::thread> threads_;
};

TEST(Quiescent, ComesWhenAllIsDoneThatWasBegun) {
  Chain chain(6);
  for (int turn = 1; turn <= 200; ++turn) {
    chain.begin(turn);
    ASSERT_TRUE(quiescent());
    ASSERT_EQ(chain.ended(), turn);
  }
}

class Sleeper {
 public:
  explicit Sleeper(std::chrono::milliseconds limit)
      : thread_([this, limit] {
          std::unique_lock lock(mutex_);
          while (!over_)
            if (limit == std::chrono::milliseconds::max())
              changed_.wait(lock);
            else
              changed_.wait_for(lock, limit);
        }) {}
  ~Sleeper() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

TEST(LongestSleep, IsThatOfAConditionVariable) {
  constexpr std::chrono::minutes kLong{10};
  const auto others = test_support::threads();
  {
    const Sleeper one(std::chrono::milliseconds::max()), other(std::chrono::hours(1));
    EXPECT_TRUE(eventually("both sleep", [&] { return all_sleep_for(kLong, others); }));
  }
  const Sleeper one(std::chrono::milliseconds::max()), other(std::chrono::seconds(60));
  ASSERT_TRUE(quiescent(others));
  EXPECT_FALSE(all_sleep_for(kLong, others));
}

TEST(LongestSleep, IsThatOfPoll) {
  const auto others = test_support::threads();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  for (const int limit_ms : {-1, 3'600'000, 60'000}) {
    std::thread waits([&] {
      pollfd one{ends[0], POLLIN, 0};
      EXPECT_EQ(::poll(&one, 1, limit_ms), 1);
    });
    EXPECT_TRUE(quiescent(others));
    EXPECT_EQ(all_sleep_for(std::chrono::minutes(10), others), limit_ms != 60'000) << limit_ms;
    char byte = 'x';
    EXPECT_EQ(::write(ends[1], &byte, 1), 1);
    waits.join();
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  }
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace perdure::os
