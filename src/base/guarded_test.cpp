#include "base/guarded.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/mutex.hpp"

namespace perdure::base {
namespace {

struct Tally {
  explicit Tally(int first) : count(first) {}
  Tally(const Tally&) = delete;
  int count;
};

TEST(Guarded, NobodyIsBetweenTheStepsOfAnother) {
  Guarded<Tally> tally(5);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&tally] {
      for (int i = 0; i < 10'000; ++i) {
        const auto held = tally.lock();
        const int before = held->count;
        held->count = before + 1;
      }
    });
  for (auto& thread : threads) thread.join();
  const auto held = tally.lock();
  EXPECT_EQ(held->count, 40'005);
}

TEST(Guarded, WhoWaitsLetsOthersInAndSeesWhatTheyDid) {
  Guarded<Tally> tally(0);
  std::condition_variable changed;
  std::thread other([&] {
    auto held = tally.lock();
    held.wait(changed, [&] { return held->count == 1; });
    held->count = 2;
    changed.notify_all();
    while (held->count != 3) held.wait(changed);
    held->count = 4;
    changed.notify_all();
  });
  {
    auto held = tally.lock();
    held->count = 1;
    changed.notify_all();
    held.wait(changed, [&] { return held->count == 2; });
    held->count = 3;
    changed.notify_all();
    held.wait(changed, [&] { return held->count == 4; });
  }
  other.join();
}

TEST(Guarded, AWaitWithALimitSaysWhetherWhatItWaitedForCame) {
  Guarded<Tally> tally(0);
  std::condition_variable changed;
  auto held = tally.lock();
  EXPECT_FALSE(held.wait_for(changed, std::chrono::milliseconds(1), [&] { return held->count == 1; }));
  held->count = 1;
  EXPECT_TRUE(held.wait_for(changed, std::chrono::hours(1), [&] { return held->count == 1; }));
}

class Box {
 public:
  void put(int value) {
    Lock lock(mutex_);
    value_ = value;
    changed_.notify_all();
  }
  int await_any() {
    Lock lock(mutex_);
    while (value_ == 0) lock.wait(changed_);
    return value_;
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  int value_ PERDURE_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, ALockThatWaitsLetsOthersIn) {
  Box box;
  std::thread other([&box] { box.put(7); });
  EXPECT_EQ(box.await_any(), 7);
  other.join();
}

}  // namespace
}  // namespace perdure::base
