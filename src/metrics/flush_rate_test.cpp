#include "metrics/flush_rate.hpp"

#include <gtest/gtest.h>

namespace perdure::metrics {
namespace {

// Runs a flush whose tier takes no time to read.
FlushRate::Started storing(FlushRate& rate, double from_s) {
  auto start = rate.started(from_s);
  rate.stores(from_s, start);
  return start;
}

TEST(FlushRate, IsTheAggregateOfAllFlushesAndNotTheRateOfOne) {
  FlushRate rate;
  std::vector<FlushRate::Started> flushes;
  for (int i = 0; i < 4; ++i) flushes.push_back(rate.started(1));
  EXPECT_EQ(rate.running(), 4u);
  for (const auto& flush : flushes) rate.finished(3, flush, 100);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 200) << "4 * 100 bytes in 2 s";
  EXPECT_EQ(rate.deviation_bytes_per_s(), 0);
  EXPECT_EQ(rate.running(), 0u);
}

TEST(FlushRate, CountsOnlyTheTimeThatFlushesOverlap) {
  FlushRate rate;
  const auto a = rate.started(0), b = rate.started(1);
  rate.finished(2, a, 150);  // alone for 1 s, then with another: 1.5 on average
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 150 * 1.5 / 2);
  rate.abandoned(3, b);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 150 * 1.5 / 2) << "a failed flush says nothing";
}

TEST(FlushRate, TellsHowManyFlushesRanWhileOneDid) {
  FlushRate rate;
  const auto a = storing(rate, 0), b = storing(rate, 1);
  const auto observed = rate.finished(2, a, 150);
  ASSERT_TRUE(observed);
  EXPECT_DOUBLE_EQ(observed->flushes, 1.5);
  EXPECT_DOUBLE_EQ(observed->bytes_per_s, 150 * 1.5 / 2);
  EXPECT_FALSE(rate.finished(2, b, 0));
}

TEST(FlushRate, AFlushThatHangsIsCountedOnLessAndLess) {
  FlushRate rate;
  const auto quick = rate.started(0);
  rate.finished(1, quick, 100);
  const auto hanging = rate.started(1);
  EXPECT_DOUBLE_EQ(rate.plausible_bytes_per_s(5), 100) << "four times as long as usual happens";
  EXPECT_DOUBLE_EQ(rate.plausible_bytes_per_s(9), 50);
  EXPECT_DOUBLE_EQ(rate.plausible_sustained_bytes_per_s(9), 50);
  EXPECT_DOUBLE_EQ(rate.plausible_bytes_per_s(401), 1);
  rate.abandoned(402, hanging);
  EXPECT_DOUBLE_EQ(rate.plausible_bytes_per_s(402), 100);
}

// Two flushes run at once and read their tier for part of their 4 seconds.
TEST(FlushRate, WhatASlowTierGivesIsForgottenWhenTheStoreShowsWhatItTakes) {
  FlushRate rate;
  const auto flush_two = [&](double from_s, double stores_from_s, double bytes) {
    auto a = rate.started(from_s), b = rate.started(from_s);
    rate.stores(stores_from_s, a);
    rate.stores(stores_from_s, b);
    for (const auto& flush : {a, b}) rate.finished(from_s + 4, flush, bytes);
  };
  flush_two(0, 3, 100);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 50) << "nothing else is known";
  flush_two(4, 4, 200);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 100);
  EXPECT_DOUBLE_EQ(rate.sustained_bytes_per_s(), 100);
  flush_two(8, 11, 100);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 100);
  EXPECT_EQ(rate.deviation_bytes_per_s(), 0);
  flush_two(12, 13, 400);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 150) << "reading took a quarter of the time only";
}

// The flush is quick because the store has no other work: that is no evidence either.
TEST(FlushRate, NorDoesAQuickFlushCountWhileTheOthersReadASlowTier) {
  FlushRate rate;
  rate.finished(1, storing(rate, 0), 100);
  auto slow = rate.started(2), slower = rate.started(2);
  rate.finished(3, storing(rate, 2), 100);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 100);
  rate.reads(3, slow);
  rate.stores(4, slow);
  rate.reads(5, slow);
  rate.abandoned(6, slow);
  rate.abandoned(6, slower);
  rate.finished(7, storing(rate, 6), 300);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 200) << "nobody reads any more";
}

TEST(FlushRate, ForgetsWhatIsBeyondItsWindow) {
  FlushRate rate(2);
  EXPECT_EQ(rate.bytes_per_s(), 0);
  rate.assume(1000);
  rate.assume(-1);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 1000);
  for (int i = 0; i < 2; ++i) rate.finished(i + 1, storing(rate, i), i == 0 ? 10 : 30);
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 20);
  EXPECT_DOUBLE_EQ(rate.deviation_bytes_per_s(), 10);
}

/// Runs flushes of 100 bytes, one after the other, each at one of these rates.
double flush_at(FlushRate& rate, double now_s, std::initializer_list<double> rates) {
  for (double bytes_per_s : rates) {
    const auto flush = storing(rate, now_s);
    now_s += 100 / bytes_per_s;
    rate.finished(now_s, flush, 100);
  }
  return now_s;
}

TEST(FlushRate, WhatIsSustainedIsTheMeanOverDataAndNotOverFlushes) {
  FlushRate rate;
  EXPECT_EQ(rate.sustained_bytes_per_s(), 0);
  flush_at(rate, 0, {100, 25});
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 62.5);
  EXPECT_DOUBLE_EQ(rate.sustained_bytes_per_s(), 40) << "200 bytes in 5 s";
}

TEST(FlushRate, ASlumpDoesNotLowerWhatIsSustainedButALongOneDoes) {
  FlushRate rate(2);
  double now_s = 0;
  for (int i = 0; i < 32; ++i) now_s = flush_at(rate, now_s, {100});
  now_s = flush_at(rate, now_s, {50, 50});
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 50);
  EXPECT_NEAR(rate.sustained_bytes_per_s(), 100 * 32 / 34.0, 1e-9);
  for (int i = 0; i < 30; ++i) now_s = flush_at(rate, now_s, {50});
  EXPECT_NEAR(rate.sustained_bytes_per_s(), 50, 1e-9);
  flush_at(rate, now_s, {100, 100});
  EXPECT_NEAR(rate.sustained_bytes_per_s(), 100, 1e-9) << "a rise counts at once";
}

TEST(FlushRate, WhatIsKnownFromElsewhereWasSustained) {
  FlushRate rate(2);
  rate.assume(100);
  flush_at(rate, 0, {20, 20});
  EXPECT_DOUBLE_EQ(rate.bytes_per_s(), 20);
  EXPECT_NEAR(rate.sustained_bytes_per_s(), 32 / (30 / 100.0 + 2 / 20.0), 1e-9);
}

TEST(FlushRate, PredictsWhenTheOldestRunningFlushEnds) {
  FlushRate rate;
  EXPECT_EQ(rate.next_end_s(0), 0);
  rate.finished(4, storing(rate, 0), 40);
  rate.finished(10, storing(rate, 4), 60);  // 10 bytes/s, 50 bytes each, 5 s on average, deviation 1 s
  EXPECT_EQ(rate.next_end_s(10), 0) << "nothing runs";
  storing(rate, 11);
  EXPECT_DOUBLE_EQ(rate.next_end_s(13), 3);
  storing(rate, 12);
  EXPECT_DOUBLE_EQ(rate.next_end_s(13), 8) << "two at once move 100 bytes in 10 s";
  EXPECT_DOUBLE_EQ(rate.next_end_s(50), 1) << "overdue";
}

TEST(FlushRate, AFlushThatTookNoTimeIsNoObservation) {
  FlushRate rate;
  rate.finished(1, storing(rate, 1), 10);
  EXPECT_EQ(rate.bytes_per_s(), 0);
}

}  // namespace
}  // namespace perdure::metrics
