#include "placement/flush_pool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace perdure::placement {
namespace {

/// A store that takes chunks of one unit from n threads at rate(n), with endless flushes.
struct Device {
  std::function<double(unsigned)> rate;
  double noise = 0;
  std::mt19937_64 random{11};
  double now_s = 0;

  /// Flushes so many chunks with as many threads as the pool says; returns how often each number of threads ran.
  std::map<unsigned, unsigned> flush(FlushPool& pool, unsigned chunks, unsigned limit) {
    std::map<unsigned, unsigned> used;
    for (unsigned i = 0; i < chunks; ++i) {
      const unsigned threads = pool.decide({now_s, 0, limit, 1000, false, {}}).threads;
      EXPECT_GE(threads, 1u);
      EXPECT_LE(threads, limit);
      ++used[threads];
      now_s += 1 / rate(threads);
      const double chance = noise == 0 ? 1 : std::exp(std::normal_distribution(0.0, noise)(random));
      pool.observe(now_s, threads, rate(threads) * chance);
    }
    return used;
  }
};

std::function<double(unsigned)> peak_at(unsigned k, double decline) {
  return [k, decline](unsigned n) { return n <= k ? n : std::max(k - decline * (n - k), 0.1); };
}

TEST(FlushPool, ThreadsAppearWithTheChunksUpToTheLimit) {
  FlushPool pool;
  EXPECT_EQ(pool.decide({0, 0, 4, 0, true, {}}).threads, 0u);
  EXPECT_EQ(pool.decide({0, 0, 4, 1, false, {}}).threads, 1u);
  EXPECT_EQ(pool.decide({0, 0, 4, 9, false, {}}).threads, ThreadSearch::kFirst);
  EXPECT_EQ(pool.decide({0, 0, 1, 9, false, {}}).threads, 1u);
  EXPECT_EQ(pool.decide({0, 0, 0, 9, false, {}}).threads, 1u) << "a limit of none would be no flush";
}

TEST(FlushPool, ThatBeginsWithAllThreadsComesDownToThePeak) {
  for (const unsigned k : {1U, 3U, 6U, 16U}) {
    FlushPool pool(16);
    EXPECT_EQ(pool.decide({0, 0, 16, 40, false, {}}).threads, 16u) << "a burst is not kept waiting for measurements";
    Device device{peak_at(k, 0.3)};
    device.flush(pool, 4000, 16);
    EXPECT_EQ(pool.search().settled(), k);
  }
}

TEST(FlushPool, FindsThePeakOfADeviceAndStaysWithinOneStepOfIt) {
  for (const double decline : {0.0, 0.3, 1.0})
    for (const unsigned limit : {1U, 2U, 3U, 8U, 64U})
      for (unsigned k = 1; k <= 64; k += k < 8 ? 1 : 7) {
        FlushPool pool;
        Device device{peak_at(k, decline)};
        device.flush(pool, 4000, limit);
        const unsigned best = std::min(k, limit);
        EXPECT_EQ(pool.search().settled(), best) << "peak " << k << ", limit " << limit << ", decline " << decline;
        unsigned elsewhere = 0;
        for (const auto& [threads, times] : device.flush(pool, 2000, limit)) {
          EXPECT_LE(std::abs(static_cast<int>(threads) - static_cast<int>(best)), 1);
          if (threads != best) elsewhere += times;
        }
        EXPECT_LT(elsewhere, 1000u);
      }
}

TEST(FlushPool, TrialsBecomeSeldom) {
  FlushPool pool;
  Device device{[](unsigned n) { return 10 * peak_at(4, 0.5)(n); }};
  device.flush(pool, 200'000, 8);  // more than an hour
  const auto used = device.flush(pool, 50'000, 8);
  EXPECT_GT(used.at(4), 49'900u);
}

TEST(FlushPool, FindsThePeakThroughNoise) {
  unsigned near = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    FlushPool pool;
    Device device{peak_at(6, 0.5), 0.1};
    device.random.seed(seed);
    device.flush(pool, 2000, 16);
    near += pool.search().settled() >= 5 && pool.search().settled() <= 7 ? 1 : 0;
  }
  EXPECT_GE(near, 48u);
}

TEST(FlushPool, StopsWhereOneMoreIsNotWorthItAndDoesNotCreepDown) {
  FlushPool pool;
  Device device{[](unsigned n) { return 100 * std::pow(n, 0.3); }};  // 5 % more from the sixth to the seventh
  device.flush(pool, 2000, 16);
  EXPECT_EQ(pool.search().settled(), 6u);
  device.flush(pool, 1'000'000, 16);
  EXPECT_EQ(pool.search().settled(), 6u);
}

TEST(FlushPool, FollowsAStoreThatChanges) {
  FlushPool pool;
  Device device{peak_at(2, 0.5)};
  device.flush(pool, 2000, 16);
  EXPECT_EQ(pool.search().settled(), 2u);
  device.rate = peak_at(9, 0.5);
  device.flush(pool, 40'000, 16);
  EXPECT_EQ(pool.search().settled(), 9u);
  device.rate = [](unsigned n) { return n == 1 ? 1.0 : 0.5 / n; };  // others use it now
  device.flush(pool, 2000, 16);
  EXPECT_EQ(pool.search().settled(), 1u);
}

TEST(FlushPool, ObservationsThatAreNoneOrOfAnotherNumberOfThreadsDoNotCount) {
  FlushPool pool;
  (void)pool.decide({0, 0, 8, 100, false, {}});
  for (int i = 0; i < 1000; ++i)
    for (const double threads : {0.0, 1.0, 1.5, 3.0, -2.0, 1e300, std::nan("")}) pool.observe(i, threads, 1e9);
  for (int i = 0; i < 1000; ++i)
    for (const double rate : {0.0, -1.0, std::nan(""), HUGE_VAL}) pool.observe(i, 2, rate);
  EXPECT_EQ(pool.decide({1000, 0, 8, 100, false, {}}).threads, 2u);
}

// ---- the application's budget

/// An application whose steps of one second are slowed down by `price` per flushing thread. Its estimate is the mean
/// price in the last 8 steps with a flush for a fifth of the time. It is known only while a quiet step is remembered. A
/// chunk takes a tenth of a step, and all threads begin one together.
struct Application {
  FlushPool pool;
  Pressure pressure = {};
  double price = 0.1;
  unsigned limit = 4;
  double now_s = 0;
  bool known = true;  // by itself; otherwise after 3 quiet steps
  unsigned quiet = 0;
  std::vector<double> prices = {};
  std::vector<double> threads = {};  // of each step, on average

  Application(double max_slowdown, double the_price) : price(the_price) {
    pressure.max_slowdown = max_slowdown;
    now_s = 5;
  }
  void step(bool somebody_waits) {
    constexpr int kChunks = 10;
    unsigned sum = 0, busy = 0;
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const unsigned now = pool.decide({now_s, 0, limit, 1000, somebody_waits, pressure}).threads;
      if (now > 0) pool.observe(now_s, now, now);  // each thread brings bandwidth
      now_s += (1 + price * now) / kChunks;
      if (now > 0) pool.idle(now_s);
      sum += now;
      busy += now > 0 ? 1 : 0;
    }
    threads.push_back(static_cast<double>(sum) / kChunks);
    ++pressure.steps;
    const double at_once = busy > 0 ? static_cast<double>(sum) / busy : 0;
    if (5 * busy >= kChunks) ++pressure.flushed_steps, pressure.threads = at_once, prices.push_back(price);
    quiet = busy == 0 ? quiet + 1 : quiet;
    if (prices.size() > 8) prices.erase(prices.begin());
    double all = 0;
    for (const double one : prices) all += one;
    if ((known || quiet >= 3) && !prices.empty())
      pressure.slowdown = pressure.threads * all / static_cast<double>(prices.size());
  }
  void steps(unsigned count, bool somebody_waits = false) {
    for (unsigned i = 0; i < count; ++i) step(somebody_waits);
  }
  double mean_threads(std::size_t last) const {
    double sum = 0;
    for (std::size_t i = threads.size() - last; i < threads.size(); ++i) sum += threads[i];
    return sum / static_cast<double>(last);
  }
};

TEST(FlushBudget, WithoutOneNothingIsLimited) {
  Application app(0, 10);
  app.steps(500);
  EXPECT_GT(app.mean_threads(100), 3.9);
}

TEST(FlushBudget, WhereNothingWasFlushedForAWhileNothingRests) {
  FlushPool pool;
  const Pressure pressure{0.1, 0.25, 0.25, 1, 100, 100};
  const auto decide = [&](double now_s, bool somebody_waits) {
    return pool.decide({now_s, 0, 1, 100, somebody_waits, pressure}).threads;
  };
  ASSERT_EQ(decide(10, false), 1U);
  pool.idle(12);
  EXPECT_EQ(decide(12, false), 0U);
  EXPECT_EQ(decide(40, false), 1U) << "at once";
  pool.idle(41);
  EXPECT_EQ(decide(41, true), 1U) << "for whom waits";
  pool.idle(50);
  EXPECT_EQ(decide(50, false), 1U);
}

TEST(FlushBudget, WhatRanForSomebodyWhoWaitedIsNotRestedFor) {
  for (const bool somebody_waits : {false, true}) {
    FlushPool pool;
    const auto decide = [&](double now_s, bool waits) {
      return pool.decide({now_s, 0, 1, 100, waits, {0.1, 0.25, 0.25, 1, 100, 100}}).threads;
    };
    ASSERT_EQ(decide(10, false), 1U);
    if (somebody_waits) ASSERT_EQ(decide(11, true), 1U);
    pool.idle(12);
    EXPECT_EQ(decide(12, false), somebody_waits ? 1U : 0U);
  }
}

TEST(FlushBudget, AsManyThreadsRunAsItAllows) {
  for (const auto& [price, fitting] : std::map<double, unsigned>{{0.01, 4}, {0.04, 2}, {0.06, 1}}) {
    Application app(0.1, price);
    app.steps(2000);
    app.threads.clear();
    app.steps(1000);
    EXPECT_NEAR(app.mean_threads(1000), fitting, 0.25) << price;
    for (const double threads : app.threads) EXPECT_LE(threads, fitting + 1) << "no more than one step off";
  }
}

TEST(FlushBudget, OneThreadThatIsTooMuchRestsAfterEachChunk) {
  for (const double price : {0.2, 0.5, 2.0, 10.0}) {
    Application app(0.1, price);
    app.steps(3000);
    app.threads.clear();
    app.steps(1000);
    std::size_t above = 0;
    double cost = 0;
    for (const double threads : app.threads) {
      EXPECT_LE(threads, 1) << price;
      above += threads == 1 ? 1 : 0;
      cost += threads < 1 ? price * threads : 0;
    }
    EXPECT_LE(above, 12U) << price << ": only to see whether it still is too much";
    EXPECT_NEAR(cost / static_cast<double>(app.threads.size() - above), 0.1, 0.025) << price;
  }
}

TEST(FlushBudget, ItIsFlushedWithoutRestsAgainWhenItCostsLess) {
  Application app(0.1, 0.4);
  app.steps(300);
  EXPECT_LT(app.mean_threads(100), 0.5);
  app.price = 0.08;
  app.steps(300);
  EXPECT_GE(app.mean_threads(100), 1);
}

// This holds for any duration of a chunk, and any events meanwhile.
TEST(FlushBudget, ARestIsAsLongAsItsChunkWasDear) {
  FlushPool pool;
  const Pressure pressure{0.1, 0.25, 0.25, 1, 100, 100};  // a fifth of every second, of which a half is allowed
  const auto decide = [&](double now_s, unsigned running) {
    return pool.decide({now_s, running, 1, 100, false, pressure});
  };
  ASSERT_EQ(decide(10, 0).threads, 1U);
  EXPECT_EQ(decide(10.5, 1).threads, 1U) << "it is under way";
  pool.idle(12);
  const double rest_s = 2 * (0.2 / (0.1 / 1.1) - 1);
  const auto rests = decide(12, 0);
  EXPECT_EQ(rests.threads, 0U);
  EXPECT_NEAR(rests.again_s, 12 + rest_s, 1e-9);
  EXPECT_EQ(decide(12 + 0.9 * rest_s, 0).threads, 0U);
  EXPECT_EQ(decide(rests.again_s, 0).threads, 1U);
  pool.idle(65);
  const auto after_a_long_one = decide(65, 0);
  EXPECT_EQ(after_a_long_one.again_s, 65 + SlowdownBudget::kLongestPauseS);
}

TEST(FlushBudget, APauseIsNeverForEver) {
  Application app(0.01, 5);
  app.steps(100);
  app.pressure.slowdown = 5;
  app.limit = 64;
  double last_s = app.now_s;
  for (int i = 0; i < 100'000; ++i) {  // no step ends any more: the application is stuck, or takes its time
    app.now_s += 0.5;
    const auto answer = app.pool.decide({app.now_s, 0, 64, 1, false, app.pressure});
    if (answer.threads > 0) {
      (void)app.pool.decide({app.now_s, 1, 64, 1, false, app.pressure});
      app.pool.idle(app.now_s + 0.25);
      last_s = app.now_s;
    } else {
      EXPECT_GT(answer.again_s, app.now_s);
      EXPECT_LE(answer.again_s, last_s + SlowdownBudget::kLongestPauseS + 1);
    }
    ASSERT_LE(app.now_s - last_s, SlowdownBudget::kLongestPauseS + 1);
  }
}

TEST(FlushBudget, ACheckpointThatWaitsBeatsIt) {
  Application app(0.01, 5);
  app.steps(100);
  EXPECT_LT(app.mean_threads(50), 0.2);
  app.steps(1, true);
  EXPECT_GE(app.threads.back(), 1);
  app.steps(1);
  EXPECT_LE(app.threads.back(), 0.1);
}

TEST(FlushBudget, ThreadsComeBackOneByOneWhenTheApplicationFeelsNothingAnyMore) {
  Application app(0.1, 0.08);
  app.steps(300);
  EXPECT_EQ(app.threads.back(), 1);
  app.price = 0.001;
  app.threads = {1};
  app.steps(5000);
  EXPECT_EQ(app.threads.back(), 4);
  for (std::size_t i = 1; i < app.threads.size(); ++i) EXPECT_LE(app.threads[i], app.threads[i - 1] + 1);
}

TEST(FlushBudget, WhereFlushesAlwaysRunTheyPauseToHaveSomethingToCompareWith) {
  Application app(0.1, 0.2);
  app.known = false;
  app.steps(200);
  EXPECT_GE(app.quiet, 3u);
  EXPECT_TRUE(app.pressure.slowdown);
  app.steps(500);
  EXPECT_LT(app.threads.back(), 1);
  Application deaf(0.1, 0.2);
  deaf.known = false;
  for (int i = 0; i < 20'000; ++i) deaf.steps(1), deaf.pressure.slowdown.reset();
  EXPECT_LT(deaf.quiet, 20'000u / 20) << "but ever more seldom";
}

TEST(FlushBudget, WhatMayBeChanceIsNotAboveIt) {
  FlushPool pool;
  Pressure pressure{0.1, 0.15, 0.09, 0, 100, 100};
  EXPECT_EQ(pool.decide({0, 0, 4, 100, false, pressure}).threads, 2u);
  pressure.at_least = 0.11;
  EXPECT_EQ(pool.decide({0, 0, 4, 100, false, pressure}).threads, 1u);
}

TEST(FlushBudget, WhatMoreThreadsCostThanItAllowsSaysNothingAgainstThoseItAllows) {
  FlushPool pool;
  Pressure pressure{0.1, 0.16, 0.16, 2, 100, 100};
  EXPECT_EQ(pool.decide({0, 0, 4, 100, false, pressure}).threads, 1u);
  pressure = {0.1, 0.32, 0.32, 4, 200, 200};  // while a checkpoint waited
  EXPECT_EQ(pool.decide({0, 0, 4, 100, false, pressure}).threads, 1u);
  pressure = {0.1, 0.7, 0.7, 4, 300, 300};
  EXPECT_EQ(pool.decide({0, 0, 4, 100, false, pressure}).threads, 1u);
  pool.idle(0.5);
  EXPECT_EQ(pool.decide({0.52, 0, 4, 100, false, pressure}).threads, 0u) << "it rests";
}

TEST(FlushBudget, AnApplicationThatIsGoneHasNone) {
  Application app(0.01, 5);
  app.steps(100);
  EXPECT_LT(app.threads.back(), 1);
  app.pressure = {0.01, {}, {}, 0, 0, 0};
  EXPECT_GE(app.pool.decide({app.now_s, 0, 4, 10, false, app.pressure}).threads, 2u);
}

TEST(FlushPool, WhateverComesItIsWithinTheLimitMakesProgressAndIsTheSameAgain) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    FlushPool one, other;
    std::mt19937_64 random(seed);
    double now_s = 0, idle_since_s = 0;
    Pressure pressure{0.05, {}, {}, 0, 0, 0};
    for (int i = 0; i < 20'000; ++i) {
      now_s += std::exponential_distribution(1.0)(random);
      const unsigned limit = 1 + random() % 8;
      if (random() % 3 == 0) ++pressure.steps, pressure.flushed_steps += random() % 2;
      if (random() % 100 == 0) pressure.steps = pressure.flushed_steps = 0;
      if (random() % 10 == 0) pressure.slowdown = std::exponential_distribution(10.0)(random);
      if (random() % 50 == 0) pressure.slowdown.reset();
      const FlushPoolView view{now_s, 0, limit, random() % 5, random() % 7 == 0, pressure};
      const auto answer = one.decide(view);
      EXPECT_EQ(answer.threads, other.decide(view).threads);
      EXPECT_LE(answer.threads, std::min<std::uint64_t>(limit, view.chunks));
      EXPECT_TRUE(answer.threads > 0 || !view.somebody_waits || view.chunks == 0);
      if (answer.threads > 0 || view.chunks == 0) idle_since_s = now_s;
      EXPECT_LT(now_s - idle_since_s, SlowdownBudget::kLongestPauseS + 20);
      const double rate = std::exponential_distribution(1.0)(random);
      one.observe(now_s, answer.threads, rate);
      other.observe(now_s, answer.threads, rate);
    }
  }
}

}  // namespace
}  // namespace perdure::placement
