#include "device/shared_device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace perdure::device {
namespace {

Device device(std::vector<Point> points, double latency_s = 0, Variability variability = {}) {
  Device d;
  d.throughput = Curve::through(std::move(points), "test").value();
  d.latency_s = latency_s;
  d.variability = variability;
  return d;
}

/// Runs until idle, and returns when each stream ended.
std::map<StreamId, double> finish(SharedDevice& d) {
  std::map<StreamId, double> ends;
  while (const auto next = d.next_event()) {
    d.advance(*next);
    for (const auto& completion : d.take_completed()) ends[completion.stream] = completion.time_s;
  }
  return ends;
}

TEST(SharedDevice, OneStreamGetsEverything) {
  SharedDevice d(device({{1, 100}}, 0.5), 0);
  const auto id = d.start(1, 200);
  EXPECT_EQ(d.streams(), 0u) << "before its latency is over";
  EXPECT_DOUBLE_EQ(finish(d)[id], 3.5);
  EXPECT_TRUE(d.idle());
  EXPECT_EQ(d.next_event(), std::nullopt);
}

TEST(SharedDevice, StreamsShareEquallyAndTheAggregateFollowsTheirNumber) {
  SharedDevice d(device({{1, 100}, {2, 160}}), 0);
  const auto a = d.start(0, 100), b = d.start(0.5, 80);
  // a has 50 at 0.5; both get 80/s: a ends at 1.125; b has 30 left and gets 100/s
  auto ends = finish(d);
  EXPECT_DOUBLE_EQ(ends[a], 1.125);
  EXPECT_DOUBLE_EQ(ends[b], 1.425);
}

TEST(SharedDevice, AFallingCurveMakesMoreStreamsSlowerTogether) {
  SharedDevice d(device({{1, 100}, {4, 40}}), 0);
  for (int i = 0; i < 4; ++i) d.start(0, 10);
  for (const auto& [id, end] : finish(d)) EXPECT_DOUBLE_EQ(end, 1);
}

TEST(SharedDevice, ALimitFromOutsideHoldsFromItsTimeOn) {
  SharedDevice d(device({{1, 100}}), 0);
  const auto id = d.start(0, 100);
  d.limit(0.5, 10);
  EXPECT_DOUBLE_EQ(finish(d)[id], 5.5);
  d.limit(6, 1e18);
  EXPECT_DOUBLE_EQ(d.bytes_per_s(), 100);
}

TEST(SharedDevice, WhatIsCancelledNeverCompletesAndLeavesTheRestFaster) {
  SharedDevice d(device({{1, 100}}), 0);
  const auto a = d.start(0, 100), b = d.start(0, 100);
  EXPECT_TRUE(d.cancel(1, a));
  EXPECT_FALSE(d.cancel(1, a));
  const auto ends = finish(d);
  EXPECT_EQ(ends.count(a), 0u);
  EXPECT_DOUBLE_EQ(ends.at(b), 1.5);
  EXPECT_FALSE(d.cancel(9, b));
}

TEST(SharedDevice, TimeNeverGoesBack) {
  SharedDevice d(device({{1, 100}}), 0);
  d.advance(5);
  const auto id = d.start(1, 100);
  EXPECT_DOUBLE_EQ(finish(d)[id], 6);
}

TEST(SharedDevice, VariabilityIsTheSameForTheSameSeedAndAveragesOut) {
  const Variability load{0.5, 0.01, 3};
  auto run = [&](std::uint64_t seed) {
    SharedDevice d(device({{1, 100}}, 0, load), seed);
    const auto id = d.start(0, 10'000);
    return finish(d)[id];
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_NEAR(run(1), 100, 3);
}

TEST(SharedDevice, NoByteIsLostUnderAnySchedule) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    SharedDevice d(device({{1, 50}, {3, 100}, {9, 60}}, seed % 2 ? 0.01 : 0, {0.3, 0.1, seed}), seed);
    std::size_t started = 0, ended = 0;
    double now = 0, bytes = 0, last = 0;
    for (int i = 0; i < 200; ++i) {
      now += 0.001 * static_cast<double>(random() % 1000);
      const double size = 1 + static_cast<double>(random() % 50);
      d.start(now, size);
      bytes += size;
      ++started;
      for (const auto& c : d.take_completed()) {
        EXPECT_GE(c.time_s, last);
        last = c.time_s;
        ++ended;
      }
    }
    const auto rest = finish(d);
    EXPECT_EQ(ended + rest.size(), started);
    for (const auto& [id, end] : rest) last = std::max(last, end);
    EXPECT_GE(last, bytes / 130) << "faster than the device can be";
    EXPECT_LE(last, now + bytes / 35) << "slower than the device can be";
  }
}

TEST(Variability, StaysInItsBoundsAndIsConstantBetweenChanges) {
  const Variability load{0.4, 0.5, 9};
  double sum = 0, t = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double next = load.next_change(t);
    ASSERT_GT(next, t);
    EXPECT_GE(load.factor(t), 0.6);
    EXPECT_LE(load.factor(t), 1.4);
    EXPECT_DOUBLE_EQ(load.factor(t), load.factor((t + next) / 2));
    sum += load.factor(t);
    t = next;
  }
  EXPECT_NEAR(sum / 10'000, 1, 0.02);
  EXPECT_GT(load.next_change(1e300), 1e300);
  EXPECT_DOUBLE_EQ(load.factor(-5), load.factor(0));
  EXPECT_TRUE(std::isinf(Variability{}.next_change(1)));
}

TEST(SharedDevice, ASlumpBeginsAndEndsInTheMiddleOfAStream) {
  Variability slump;
  slump.slump_factor = 0.01;
  slump.slump_from_s = 0.5;
  slump.slump_until_s = 10.5;
  SharedDevice d(device({{1, 100}}, 0, slump), 0);
  const auto id = d.start(0, 100);  // 50 until 0.5, 10 until 10.5, and the rest
  EXPECT_NEAR(finish(d)[id], 10.9, 1e-9);
}

TEST(Variability, ASlumpHasTwoChangesAndOneForEverHasOne) {
  Variability slump;
  slump.slump_factor = 0.25;
  slump.slump_from_s = 3;
  EXPECT_DOUBLE_EQ(slump.next_change(0), 3);
  EXPECT_DOUBLE_EQ(slump.factor(2.999), 1);
  EXPECT_DOUBLE_EQ(slump.factor(3), 0.25);
  EXPECT_TRUE(std::isinf(slump.next_change(3)));
  slump.slump_until_s = 4;
  EXPECT_DOUBLE_EQ(slump.next_change(3), 4);
  EXPECT_DOUBLE_EQ(slump.factor(4), 1);
  slump.amplitude = 0.4;
  slump.period_s = 0.3;
  EXPECT_DOUBLE_EQ(slump.next_change(2.95), 3) << "before the load's";
  EXPECT_DOUBLE_EQ(slump.next_change(3.0), slump.next_change(3.1)) << "the load's";
}

}  // namespace
}  // namespace perdure::device
