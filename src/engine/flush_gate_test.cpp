#include "engine/flush_gate.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/core_fixture.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

class FlushGateTest : public testing::Test {
 protected:
  void start(unsigned limit) {
    gate = std::make_unique<FlushGate>(lock, limit, [this] { return pressure; });
  }
  /// Threads that pass the gate, each `times` times, and note how many were inside at once.
  void flush(unsigned count, int times) {
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([this, times] {
        for (int n = 0; n < times; ++n) {
          gate->enter(given_up);
          const int now = ++inside;
          for (int most = most_inside; now > most && !most_inside.compare_exchange_weak(most, now);) {
          }
          os::sleep_ns(kMillisecond / 10);
          --inside;
          ++passed;
          gate->leave();
        }
      });
  }
  void join() {
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
  void locked(const std::function<void()>& change) {
    std::lock_guard guard(lock);
    change();
  }
  unsigned waiting() {
    std::lock_guard guard(lock);
    return gate->status().waiting;
  }
  void await_waiting(unsigned count) {
    while (waiting() != count) os::sleep_ns(kMillisecond);
  }
  /// The application runs twice as slowly while one thread flushes.
  static placement::Pressure too_much(std::uint64_t flushed_steps) { return {0.01, 1.0, 1.0, 1, 100, flushed_steps}; }

  std::mutex lock;
  placement::Pressure pressure;
  std::unique_ptr<FlushGate> gate;
  std::atomic<bool> given_up = false;
  std::atomic<int> inside = 0, most_inside = 0, passed = 0;
  std::vector<std::thread> threads;
};

TEST_F(FlushGateTest, LetsThroughAsManyAsTheLimitAndNoMore) {
  start(3);
  flush(8, 50);
  join();
  EXPECT_EQ(passed, 400);
  EXPECT_LE(most_inside, 3);
  EXPECT_GE(most_inside, 1);
  EXPECT_EQ(gate->status().inside, 0u);
  EXPECT_EQ(gate->status().waiting, 0u);
}

// The first passes before anything is known; then the budget says none, for a minute at least.
TEST_F(FlushGateTest, HoldsBackWhatTheApplicationFeelsUntilSomebodyWaitsForIt) {
  start(1);
  locked([&] { pressure = too_much(100); });
  flush(1, 3);
  await_waiting(1);
  EXPECT_LT(passed, 3);
  locked([&] { gate->somebody_waits(true); });
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, LetsThroughWhenTheApplicationIsGone) {
  start(1);
  locked([&] { pressure = too_much(100); });
  flush(1, 3);
  await_waiting(1);
  locked([&] {
    pressure = {0.01, {}, {}, 0, 0, 0};
    gate->look_again();
  });
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, KeepsNobodyWhoseFlushWasGivenUp) {
  start(1);
  locked([&] { pressure = too_much(100); });
  flush(1, 3);
  await_waiting(1);
  locked([&] {
    given_up = true;
    gate->look_again();
  });
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, KeepsNobodyAfterItWasShut) {
  start(1);
  locked([&] { pressure = too_much(100); });
  flush(4, 3);
  await_waiting(4);
  locked([&] { gate->shut(); });
  join();
  EXPECT_EQ(passed, 12);
}

}  // namespace
}  // namespace perdure::engine
