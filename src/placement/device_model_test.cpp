#include "placement/device_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "placement/sampling.hpp"

namespace perdure::placement {
namespace {

using testing::HasSubstr;
using Samples = std::vector<Sample>;

/// Poor below 16 writers, best near 16, slowly falling beyond.
double ssd(unsigned writers) {
  const double k = writers;
  return 700e6 * (1 - std::exp(-k / 5)) / (1 + std::max(0.0, k - 16) / 250);
}

Samples measure(const std::vector<unsigned>& counts) {
  Samples samples;
  for (unsigned k : counts) samples.push_back({k, ssd(k)});
  return samples;
}

Samples equally_spaced(unsigned count, unsigned step, double value) {
  Samples samples;
  for (unsigned i = 0; i < count; ++i) samples.push_back({1 + i * step, value});
  return samples;
}

TEST(DeviceModel, GoesThroughItsSamplesAndPredictsBetweenThem) {
  const auto samples = measure(counts_to_measure(256));
  const auto model = DeviceModel::fit(samples, 256).value();
  for (const Sample& sample : samples) EXPECT_DOUBLE_EQ(model.bytes_per_s(sample.writers), sample.bytes_per_s);
  std::vector<Sample> every;
  for (unsigned k = 1; k <= 256; ++k) every.push_back({k, ssd(k)});
  const Accuracy result = accuracy(model, every);
  EXPECT_EQ(result.compared, 256u);
  EXPECT_LT(result.mean_error, 0.05);
  EXPECT_LT(result.worst_error, 0.15) << "at " << result.worst_writers;
  EXPECT_GT(result.worst_error, 0);
}

TEST(DeviceModel, StaysConstantOutsideItsRange) {
  const auto model = DeviceModel::fit(measure({11, 21, 31, 41, 51}), 100).value();
  EXPECT_DOUBLE_EQ(model.bytes_per_s(1), ssd(11));
  EXPECT_DOUBLE_EQ(model.bytes_per_s(0), ssd(11));
  EXPECT_DOUBLE_EQ(model.bytes_per_s(100), ssd(51));
  EXPECT_DOUBLE_EQ(model.bytes_per_s(4'000'000'000), ssd(51));
}

TEST(DeviceModel, NeverOvershootsToNonsense) {
  Samples jumps = equally_spaced(11, 10, 1e6);
  for (std::size_t i = 5; i < jumps.size(); ++i) jumps[i].bytes_per_s = 5e9;
  const auto model = DeviceModel::fit(jumps, 101).value();
  for (unsigned k = 1; k <= 101; ++k) {
    EXPECT_GE(model.bytes_per_s(k), 0.5e6) << k;
    EXPECT_LE(model.bytes_per_s(k), k <= 41 ? 1.5e6 : 7.5e9) << k;
  }
}

TEST(DeviceModel, TakesAFewSamplesWhenTheyAreAllThereCanBe) {
  const auto model = DeviceModel::fit(Samples{{1, 10}, {2, 30}, {3, 20}}, 3).value();
  EXPECT_DOUBLE_EQ(model.bytes_per_s(2), 30);
  EXPECT_DOUBLE_EQ(DeviceModel::fit(Samples{{1, 10}}, 1).value().bytes_per_s(9), 10);
}

TEST(DeviceModel, TakesSamplesAtAnyDistancesAndRisesAndFallsOnlyWhereTheyDo) {
  const Samples samples = measure({1, 2, 4, 7, 16, 20, 90, 256});
  const auto model = DeviceModel::fit(samples, 300).value();
  for (const Sample& sample : samples) EXPECT_DOUBLE_EQ(model.bytes_per_s(sample.writers), sample.bytes_per_s);
  EXPECT_DOUBLE_EQ(model.bytes_per_s(300), samples.back().bytes_per_s);
  for (unsigned k = 2; k <= 16; ++k) EXPECT_GE(model.bytes_per_s(k), model.bytes_per_s(k - 1)) << k;
  for (unsigned k = 21; k <= 256; ++k) EXPECT_LE(model.bytes_per_s(k), model.bytes_per_s(k - 1)) << k;
  EXPECT_NEAR(model.bytes_per_s(10) / ssd(10), 1, 0.05);
  EXPECT_DOUBLE_EQ(DeviceModel::fit(measure({3, 4, 8, 16, 32}), 40).value().bytes_per_s(1), ssd(3));
}

std::string refusal(const Samples& samples, unsigned max_writers) {
  const auto model = DeviceModel::fit(samples, max_writers);
  if (model) return "accepted";
  EXPECT_EQ(model.error().code, PERDURE_INVALID_ARGUMENT);
  return model.error().text();
}

TEST(DeviceModel, RefusesACalibrationOfNonsense) {
  EXPECT_THAT(refusal({}, 256), HasSubstr("at least 5 samples"));
  EXPECT_THAT(refusal(equally_spaced(4, 10, 1e8), 256), HasSubstr("there are 4"));
  EXPECT_THAT(refusal(equally_spaced(5, 10, 1e8), 0), HasSubstr("1 to 65536"));
  EXPECT_THAT(refusal(equally_spaced(5, 10, 1e8), 40), HasSubstr("sample with 41 writers: it is beyond"));
  for (double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e16}) {
    Samples samples = equally_spaced(6, 10, 1e8);
    samples[3].bytes_per_s = bad;
    EXPECT_THAT(refusal(samples, 256), HasSubstr("sample with 31 writers: its throughput")) << bad;
  }
  Samples falling = equally_spaced(6, 10, 1e8);
  std::swap(falling[0], falling[5]);
  EXPECT_THAT(refusal(falling, 256), HasSubstr("not in ascending order"));
  Samples same(6, {5, 1e8});
  EXPECT_THAT(refusal(same, 256), HasSubstr("not in ascending order"));
  Samples none = equally_spaced(6, 10, 1e8);
  none[0].writers = 0;
  EXPECT_THAT(refusal(none, 256), HasSubstr("needs a writer"));
}

TEST(DeviceModel, AnAssumedModelLearnsTheDeviceFromObservations) {
  auto model = DeviceModel::assumed(500e6, 64);
  EXPECT_FALSE(model.calibrated());
  for (int round = 0; round < 40; ++round)
    for (unsigned k : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) model.observe(k, ssd(k));
  EXPECT_EQ(model.observations(), 280u);
  for (unsigned k : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) EXPECT_NEAR(model.bytes_per_s(k) / ssd(k), 1, 0.1) << k;
}

TEST(DeviceModel, AnObservationMovesItsCountMostAndDistantOnesNotAtAll) {
  auto model = DeviceModel::fit(measure(counts_to_measure(256)), 256).value();
  const auto before = model;
  model.observe(16, ssd(16) / 1.9);
  const auto moved = [&](unsigned k) { return 1 - model.bytes_per_s(k) / before.bytes_per_s(k); };
  EXPECT_GT(moved(16), 0.05);
  EXPECT_LT(moved(16), 0.5);
  EXPECT_LT(moved(20), moved(16));
  EXPECT_GT(moved(20), 0);
  EXPECT_EQ(moved(200), 0);
}

TEST(DeviceModel, ADeviceThatCrawlsIsSlowWithFewWritersTooThoughNobodySawThat) {
  auto model = DeviceModel::fit(measure(counts_to_measure(256)), 256).value();
  const auto before = model;
  for (int i = 0; i < 100; ++i) model.observe(64, ssd(64) / 1000);
  EXPECT_NEAR(model.bytes_per_s(64) / (ssd(64) / 1000), 1, 0.01);
  EXPECT_LT(model.bytes_per_s(1), before.bytes_per_s(1) / 50);
  EXPECT_LT(model.sweet_spot(256).bytes_per_s, before.sweet_spot(256).bytes_per_s / 50);
  for (int i = 0; i < 100; ++i) model.observe(64, ssd(64));
  for (unsigned k : {1U, 16U, 64U, 256U}) EXPECT_NEAR(model.bytes_per_s(k) / before.bytes_per_s(k), 1, 0.02) << k;
}

TEST(DeviceModel, WhatFlushesTakeIsNoSlump) {
  auto model = DeviceModel::fit(measure(counts_to_measure(256)), 256).value();
  const auto before = model;
  for (int i = 0; i < 100; ++i) model.observe(16, ssd(16) / 5, 64);  // for each writer four read
  EXPECT_EQ(model.bytes_per_s(1), before.bytes_per_s(1));
  EXPECT_NEAR(model.bytes_per_s(16) / (ssd(16) / 5), 1, 0.01);
  model = before;
  for (int i = 0; i < 100; ++i) model.observe(16, ssd(16) / 1000, 64);
  EXPECT_LT(model.bytes_per_s(1), before.bytes_per_s(1) / 4) << "but they do not explain everything";
}

/// Counts the doubts until the device is predicted about as fast as before with one writer.
int doubts_needed(DeviceModel& model) {
  for (int doubts = 0; doubts < 100'000; ++doubts, model.doubt())
    if (model.bytes_per_s(1) > ssd(1) / 1.1) return doubts;
  return -1;
}

TEST(DeviceModel, ASlumpIsDoubtedEverMoreSlowlyUntilTheDeviceIsSeenToBeFast) {
  auto model = DeviceModel::fit(measure(counts_to_measure(256)), 256).value();
  const auto before = model;
  model.doubt();
  EXPECT_EQ(model.bytes_per_s(64), before.bytes_per_s(64)) << "there is nothing to doubt";
  std::vector<int> needed;
  for (int relapse = 0; relapse < 3; ++relapse) {
    for (int i = 0; i < 100; ++i) model.observe(64, ssd(64) / 1000);
    needed.push_back(doubts_needed(model));
  }
  EXPECT_GT(needed[0], 5);
  EXPECT_GT(needed[1], needed[0]);
  EXPECT_GT(needed[2], needed[1]);
  for (int i = 0; i < 100; ++i) model.observe(64, ssd(64));
  for (int i = 0; i < 100; ++i) model.observe(64, ssd(64) / 1000);
  EXPECT_EQ(doubts_needed(model), needed[0]);
}

TEST(DeviceModel, IgnoresObservationsOfNonsenseAndMovesAtMostByAFactorOfTwo) {
  auto model = DeviceModel::assumed(1e8, 8);
  for (double bad : {0.0, -5.0, std::nan(""), HUGE_VAL, 1e300}) model.observe(4, bad);
  model.observe(0, 1e9);
  EXPECT_EQ(model.observations(), 0u);
  model.observe(4, 1e-3);
  EXPECT_NEAR(model.bytes_per_s(4), 0.5e8, 1);
  for (int i = 0; i < 1000; ++i) model.observe(4'000'000'000, 1e-3);
  EXPECT_GE(model.bytes_per_s(8), 1);
}

TEST(DeviceModel, AnAssumptionOfNonsenseBecomesTheDefault) {
  EXPECT_DOUBLE_EQ(DeviceModel::assumed(-1, 0).bytes_per_s(1), DeviceModel::kAssumedBytesPerS);
  EXPECT_DOUBLE_EQ(DeviceModel::assumed(std::nan("")).bytes_per_s(7), DeviceModel::kAssumedBytesPerS);
}

TEST(Sampling, MeasuresAtMostATenthOfTheRangeAtEqualSteps) {
  EXPECT_EQ(counts_to_measure(256).size(), 26u);
  EXPECT_EQ(counts_to_measure(256)[1], 11u);
  EXPECT_EQ(counts_to_measure(256).back(), 251u);
  for (unsigned range = 1; range <= 2000; ++range) {
    const auto counts = counts_to_measure(range);
    EXPECT_LE(counts.size(), std::max((range + 9) / 10, std::min(range, 5U))) << range;
    EXPECT_GE(counts.size(), std::min(range, 5U)) << range;
    EXPECT_EQ(counts.front(), 1u);
    EXPECT_LE(counts.back(), range);
    std::vector<Sample> samples;
    for (unsigned k : counts) samples.push_back({k, 1e8});
    ASSERT_TRUE(DeviceModel::fit(samples, range)) << range;
  }
  EXPECT_TRUE(counts_to_measure(0).empty());
}

/// Returns all requested counts, one stage after the other.
std::vector<unsigned> counts_of(unsigned range, double (*device)(unsigned)) {
  Samples samples;
  for (auto next = counts_to_measure_next(samples, range); !next.empty();
       next = counts_to_measure_next(samples, range)) {
    for (unsigned k : next) samples.push_back({k, device(k)});
    std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.writers < b.writers; });
  }
  EXPECT_TRUE(DeviceModel::fit(samples, range)) << range;
  std::vector<unsigned> counts;
  for (const Sample& sample : samples) counts.push_back(sample.writers);
  return counts;
}

TEST(Sampling, MeasuresCountsThatDoubleAndThenSomeMoreButAtMostATenth) {
  EXPECT_EQ(counts_to_measure_next({}, 20), (std::vector<unsigned>{1, 2, 4, 8, 16, 20}));
  EXPECT_EQ(counts_of(256, ssd).size(), 26u);
  EXPECT_EQ(counts_of(16, ssd).size(), 8u);
  for (unsigned range = 1; range <= 700; ++range) {
    const auto counts = counts_of(range, ssd);
    EXPECT_LE(counts.size(), std::min(std::max((range + 9) / 10, std::bit_width(range) + 4U), range)) << range;
    EXPECT_EQ(counts.front(), 1u);
    EXPECT_EQ(counts.back(), range);
    EXPECT_EQ(std::adjacent_find(counts.begin(), counts.end(), std::greater_equal<>()), counts.end()) << "none twice";
  }
  EXPECT_TRUE(counts_to_measure_next({}, 0).empty());
  EXPECT_TRUE(counts_to_measure_next({}, kMaxModelledWriters + 1).empty());
}

TEST(Sampling, LooksWhereTheCurveBends) {
  // The curve is flat up to 64 writers, and a third of that with 96 and more.
  const auto counts = counts_of(256, [](unsigned k) {
    return k <= 64 ? 9e9 : k >= 96 ? 3e9 : 9e9 - (k - 64) * 187.5e6;
  });
  EXPECT_GE(std::count_if(counts.begin(), counts.end(), [](unsigned k) { return k > 32 && k < 256; }), 10);
  EXPECT_LE(std::count_if(counts.begin(), counts.end(), [](unsigned k) { return k < 16; }), 10);
}

TEST(Sampling, SaysHowWellTheDeviceRepeatsItself) {
  const Accuracy result = repeatability(Samples{{1, 100}, {2, 90}, {8, 50}}, Samples{{1, 100}, {2, 100}, {3, 7}});
  EXPECT_EQ(result.compared, 2u);
  EXPECT_DOUBLE_EQ(result.mean_error, 0.05);
  EXPECT_DOUBLE_EQ(result.worst_error, 0.1);
  EXPECT_EQ(result.worst_writers, 2u);
  EXPECT_EQ(repeatability({}, {}).compared, 0u);
}

TEST(Sampling, ReportsMeanAndWorstErrorAndWhere) {
  const auto model = DeviceModel::assumed(100, 8);
  const Accuracy result = accuracy(model, Samples{{1, 100}, {2, 200}, {3, 80}, {4, 0}, {0, 5}});
  EXPECT_EQ(result.compared, 3u);
  EXPECT_DOUBLE_EQ(result.worst_error, 0.5);
  EXPECT_EQ(result.worst_writers, 2u);
  EXPECT_DOUBLE_EQ(result.mean_error, (0 + 0.5 + 0.25) / 3);
  EXPECT_EQ(accuracy(model, {}).worst_writers, 0u);
}

}  // namespace
}  // namespace perdure::placement
