#include "metrics/step_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace perdure::metrics {
namespace {

/// An application that computes `quiet_s` between its checkpoints, slower by `slowdown` while a flush runs.
struct Application {
  double quiet_s = 1, slowdown = 0.2, noise = 0;
  double now_s = 100;
  std::mt19937 random{7};
  StepTime times = {};

  void step(double flushed, double held_up_s = 0) {
    const double chance = noise == 0 ? 1 : std::normal_distribution(1.0, noise)(random);
    const double seconds = quiet_s * chance * (1 + slowdown) / (1 + slowdown * (1 - flushed)) + held_up_s;
    times.step(now_s, now_s + seconds, flushed);
    now_s += seconds + 0.1;
  }
};

TEST(StepTime, IsUnknownWhileThereIsTooLittleToCompare) {
  Application app;
  EXPECT_FALSE(app.times.slowdown());
  for (int i = 0; i < 20; ++i) app.step(0);
  EXPECT_FALSE(app.times.slowdown()) << "no step with a flush";
  app.step(1);
  app.step(1);
  EXPECT_FALSE(app.times.slowdown());
  app.step(1);
  EXPECT_NEAR(app.times.slowdown().value(), 0.2, 1e-9);
  EXPECT_NEAR(app.times.quiet_step_s().value(), 1, 1e-9);
  EXPECT_EQ(app.times.steps(), 23u);
  EXPECT_EQ(app.times.flushed_steps(), 3u);
  Application flushes_always;
  for (int i = 0; i < 20; ++i) flushes_always.step(0.5 + 0.001 * i);
  EXPECT_FALSE(flushes_always.times.slowdown()) << "all steps are alike";
}

TEST(StepTime, StepsThatWereFlushedInPartAreComparedByThatPart) {
  for (const double slowdown : {0.01, 0.2, 3.0}) {
    Application app;
    app.slowdown = slowdown;
    for (int i = 0; i < 16; ++i) app.step(i % 2 == 0 ? 0.25 : 0.75);
    EXPECT_NEAR(app.times.slowdown().value(), slowdown, 1e-9);
    EXPECT_NEAR(app.times.quiet_step_s().value(), 1, 1e-9);
  }
}

TEST(StepTime, FlushesOfTheSameTimeInStepsOfDifferentLengthSayNothing) {
  std::mt19937 random(5);
  StepTime times;
  double now_s = 0;
  for (int i = 0; i < 500; ++i) {
    const double own_s = std::uniform_real_distribution(0.2, 2.0)(random), flush_s = 0.5;
    // It is 20 % slower while the flush runs, which is the whole step if that is short.
    const double seconds = own_s * 1.2 <= flush_s ? own_s * 1.2 : own_s + flush_s * 0.2 / 1.2;
    times.step(now_s, now_s + seconds, std::min(flush_s / seconds, 1.0));
    now_s += seconds;
    EXPECT_FALSE(times.slowdown()) << i;
  }
  for (int i = 0; i < 4; ++i) {  // a pause of the flusher shows the difference
    times.step(now_s, now_s + 1.1, 0);
    now_s += 1.1;
  }
  EXPECT_TRUE(times.slowdown());
}

TEST(StepTime, FewerThreadsThatFlushLongerAreNotTakenForAFlushThatCostsNothing) {
  StepTime times;
  double now_s = 0;
  const auto step = [&](unsigned threads, double chunk_seconds) {
    const double flush_s = threads == 0 ? 0 : chunk_seconds / threads, price = 0.1 * threads;
    const double seconds = 1 + flush_s * price / (1 + price);
    times.step(now_s, now_s + seconds, flush_s / seconds, threads);
    now_s += seconds;
  };
  for (int i = 0; i < 20; ++i) step(1 + i % 2, 0.8);
  EXPECT_FALSE(times.slowdown()) << "the same flush, with one thread and with two";
  for (int i = 0; i < 3; ++i) step(0, 0.8);
  for (int i = 0; i < 3; ++i) step(2, 0.8);
  EXPECT_NEAR(times.slowdown().value(), 0.2, 0.02);
  for (int i = 0; i < 3; ++i) step(1, 0.8);
  EXPECT_NEAR(times.slowdown().value(), 0.1, 0.02);
}

TEST(StepTime, ScalesWithTheApplication) {
  for (const double quiet_s : {1e-6, 1e-3, 1e4}) {
    Application app;
    app.quiet_s = quiet_s;
    for (int i = 0; i < 16; ++i) app.step(i % 2);
    EXPECT_NEAR(app.times.slowdown().value(), 0.2, 1e-3) << quiet_s;
  }
}

TEST(StepTime, StepsThatSomethingElseHeldUpDoNotMatter) {
  Application app;
  for (int i = 0; i < 32; ++i) app.step(i % 2, i == 17 || i == 20 || i == 27 ? 1000 : 0);
  EXPECT_NEAR(app.times.slowdown().value(), 0.2, 1e-9);
}

TEST(StepTime, WhatIsWithinTheNoiseIsNoSlowDown) {
  int seen = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Application app;
    app.slowdown = 0;
    app.noise = 0.05;
    app.random.seed(seed);
    for (int i = 0; i < 64; ++i) app.step(i % 2);
    ASSERT_TRUE(app.times.slowdown());
    EXPECT_GE(*app.times.slowdown(), 0);
    seen += *app.times.slowdown() > 0;
  }
  EXPECT_LT(seen, 15);
}

TEST(StepTime, ARealSlowDownIsSeenThroughTheNoise) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Application app;
    app.slowdown = 0.5;
    app.noise = 0.05;
    app.random.seed(seed);
    for (int i = 0; i < 64; ++i) app.step(i % 2);
    EXPECT_NEAR(app.times.slowdown().value(), 0.5, 0.2) << seed;
    EXPECT_LT(app.times.at_least().value(), 0.55) << seed;
    EXPECT_GT(app.times.at_least().value(), 0.25) << seed;
  }
}

TEST(StepTime, FollowsAChangeAndKeepsWhatItKnowsOfQuietSteps) {
  Application app;
  for (int i = 0; i < 8; ++i) app.step(0);
  for (int i = 0; i < 100; ++i) app.step(1);
  EXPECT_NEAR(app.times.slowdown().value(), 0.2, 1e-9);
  app.slowdown = 0.05;
  for (int i = 0; i < 9; ++i) app.step(1);
  EXPECT_NEAR(app.times.slowdown().value(), 0.05, 1e-9);
  for (int i = 0; i < 256; ++i) app.step(1);
  EXPECT_FALSE(app.times.slowdown()) << "what the application was like long ago says nothing";
}

TEST(StepTime, IgnoresStepsOfNoLengthAndClocksThatJump) {
  Application app;
  for (int i = 0; i < 16; ++i) app.step(i % 2);
  const auto steps = app.times.steps();
  const double now = app.now_s, nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  app.times.step(now, now, 1);
  app.times.step(now + 2, now + 1, 1);
  app.times.step(nan, now, 1);
  app.times.step(now, infinity, 1);
  app.times.step(now, now + 1, nan);
  app.times.step(-1e300, now + 3, 1);  // overlaps all before
  EXPECT_EQ(app.times.steps(), steps);
  app.now_s = 5;  // set back: only the first step is ignored
  app.step(1);
  EXPECT_EQ(app.times.steps(), steps);
  app.step(1);
  EXPECT_EQ(app.times.steps(), steps + 1);
  EXPECT_NEAR(app.times.slowdown().value(), 0.2, 1e-9);
}

TEST(StepTime, StaysSaneWhateverItIsGiven) {
  std::mt19937_64 random(3);
  StepTime times;
  double at = 0;
  for (int i = 0; i < 5000; ++i) {
    const double length = std::exp(std::uniform_real_distribution(-40.0, 40.0)(random));
    times.step(at, at + length, std::uniform_real_distribution(-1.0, 2.0)(random));
    at = random() % 10 == 0 ? 0 : at + length;
    if (!times.slowdown()) continue;
    EXPECT_TRUE(std::isfinite(*times.slowdown()) && *times.slowdown() >= 0);
    EXPECT_GT(times.quiet_step_s().value(), 0);
  }
}

}  // namespace
}  // namespace perdure::metrics
