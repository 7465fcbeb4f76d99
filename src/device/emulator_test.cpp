// Runs in virtual time: the test's clock jumps to the next time that a thread waits for.
#include "device/emulator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace perdure::device {
namespace {

class TestClock final : public Clock {
 public:
  double now_s() override { return now_; }
  void wait(std::unique_lock<std::mutex>&, std::condition_variable&, double seconds) override {
    ++waits;
    now_ = now_ + std::max(seconds, 1e-9);
  }
  void pass(double seconds) { now_ = now_ + seconds; }
  int waits = 0;

 private:
  double now_ = 1000;
};

Device device_of(std::vector<Point> points, double latency_s = 0) {
  Device device;
  device.throughput = Curve::through(std::move(points), "test").value();
  device.latency_s = latency_s;
  return device;
}

TEST(Emulator, ATransferLastsAsLongAsTheDescriptionSays) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}, 0.5), 1, 0, clock);
  emulator.transfer(200);
  EXPECT_NEAR(clock.now_s(), 1002.5, 1e-6);
  EXPECT_EQ(emulator.streams(), 0u);
}

TEST(Emulator, TimeScaleStretchesEverything) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}, 0.5), 0.1, 0, clock);
  emulator.transfer(200);
  EXPECT_NEAR(clock.now_s(), 1000.25, 1e-6);
}

TEST(Emulator, StreamsShareTheAggregateOfTheirNumber) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}, {2, 160}}), 1, 0, clock);
  const StreamId first = emulator.start(160), second = emulator.start(80);
  EXPECT_EQ(emulator.streams(), 2u);
  emulator.wait(second);  // 80 bytes at 80 bytes/s each
  EXPECT_NEAR(clock.now_s(), 1001, 1e-6);
  EXPECT_FALSE(emulator.over(first));
  emulator.wait(first);  // the other 80 alone, at 100
  EXPECT_NEAR(clock.now_s(), 1001.8, 1e-6);
}

TEST(Emulator, WhatIsCancelledLeavesItsShareToOthers) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}), 1, 0, clock);
  const StreamId first = emulator.start(100), second = emulator.start(1'000'000);
  clock.pass(1);
  emulator.cancel(second);
  emulator.wait(first);
  EXPECT_NEAR(clock.now_s(), 1001.5, 1e-6);
  EXPECT_TRUE(emulator.over(second));
}

TEST(Emulator, SaysWhenToLookAgain) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}), 2, 0, clock);
  const StreamId stream = emulator.start(100);
  EXPECT_NEAR(emulator.ask_again_in_s(stream), 2, 1e-9);
  clock.pass(1.5);
  EXPECT_NEAR(emulator.ask_again_in_s(stream), 0.5, 1e-9);
  EXPECT_FALSE(emulator.over(stream));
  clock.pass(0.6);
  EXPECT_EQ(emulator.ask_again_in_s(stream), 0) << "it ended, and this is the first who hears of it";
  EXPECT_TRUE(emulator.over(stream));
}

TEST(Emulator, WhatIsOverIsLookedAtNowAlsoWhileOthersRun) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}), 1, 0, clock);
  const StreamId first = emulator.start(100), second = emulator.start(1'000'000);
  clock.pass(3);
  EXPECT_EQ(emulator.ask_again_in_s(first), 0);
  EXPECT_GT(emulator.ask_again_in_s(second), 1);
}

TEST(Emulator, ALimitFromOutsideHolds) {
  TestClock clock;
  Emulator emulator(device_of({{1, 100}}), 1, 0, clock);
  emulator.limit(10);
  emulator.transfer(100);
  EXPECT_NEAR(clock.now_s(), 1010, 1e-6);
}

TEST(Emulator, WhoIsShutKeepsNobodyWaiting) {
  Emulator emulator(device_of({{1, 1e-3}}), 1, 0);  // in real time it would take weeks
  std::thread waiter([&] { emulator.transfer(1'000'000); });
  emulator.shut();
  waiter.join();
  emulator.transfer(1'000'000);
}

// One waiting thread watches the clock for all. It must find a successor, also among threads that end with it.
TEST(Emulator, NobodyIsForgottenWhenSeveralEndAtOnce) {
  for (int round = 0; round < 100; ++round) {
    Emulator emulator(device_of({{1, 1e9}}), 1, 0);
    std::vector<StreamId> streams;
    for (int i = 0; i < 9; ++i) streams.push_back(emulator.start(i < 6 ? 50'000 : 100'000));
    std::vector<std::jthread> threads;
    for (const StreamId stream : streams) threads.emplace_back([&emulator, stream] { emulator.wait(stream); });
    std::jthread canceller([&] { emulator.cancel(streams.back()); });
    (void)emulator.over(streams.front());  // looks at the clock, too
  }
}

TEST(Emulator, ServesThreadsThatComeAndGoInRealTime) {
  Emulator emulator(device_of({{1, 1e9}, {8, 4e9}}), 1, 7);
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const StreamId dropped = emulator.start(1'000'000'000);
        emulator.transfer(100'000);
        emulator.cancel(dropped);
        ++done;
      }
    });
  threads.clear();
  EXPECT_EQ(done, 400);
  EXPECT_EQ(emulator.streams(), 0u);
}

}  // namespace
}  // namespace perdure::device
