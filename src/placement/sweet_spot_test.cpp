// Compares the table of sweet spots with the plain search that it replaces, before and after observations.
#include <gtest/gtest.h>

#include <algorithm>

#include "placement/views_testing.hpp"

namespace perdure::placement {
namespace {

SweetSpot searched(const DeviceModel& model, std::uint64_t most) {
  const auto last = static_cast<unsigned>(std::clamp<std::uint64_t>(most, 1, model.max_writers()));
  double best = 0;
  for (unsigned k = 1; k <= last; ++k) best = std::max(best, model.bytes_per_s(k));
  unsigned k = 1;
  while (model.bytes_per_s(k) < kAsGoodAsBest * best) ++k;
  return {k, model.bytes_per_s(k)};
}

void expect_equal(const DeviceModel& model, std::uint64_t most) {
  const SweetSpot expected = searched(model, most), found = model.sweet_spot(most);
  ASSERT_EQ(found.writers, expected.writers) << most;
  ASSERT_EQ(found.bytes_per_s, expected.bytes_per_s) << most;
}

void expect_equal_everywhere(const DeviceModel& model) {
  for (std::uint64_t most = 0; most <= model.max_writers() + 2; ++most)
    ASSERT_NO_FATAL_FAILURE(expect_equal(model, most));
  expect_equal(model, ~0ULL);
}

/// Curves have ups and downs, some too small to count, and observations bend them.
TEST(SweetSpot, IsWhatAPlainSearchFindsOnAnyCurveAndAfterObservations) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> curve;
    for (std::uint64_t i = 0; i < 1 + random() % 60; ++i)
      curve.push_back(1e6 * static_cast<double>(random() % 2 ? 1 + random() % 1000 : 995 + random() % 10));
    DeviceModel model = model_of(curve);
    ASSERT_NO_FATAL_FAILURE(expect_equal_everywhere(model)) << round;
    for (int i = 0; i < 20; ++i) {
      model.observe(static_cast<unsigned>(1 + random() % 80), 1e6 * static_cast<double>(1 + random() % 2000));
      ASSERT_NO_FATAL_FAILURE(expect_equal_everywhere(model)) << round;
    }
  }
}

TEST(SweetSpot, OfACopyIsItsOwn) {
  DeviceModel model = kSsd;
  EXPECT_EQ(model.sweet_spot(256).writers, 16u);
  for (int i = 0; i < 100; ++i) model.observe(200, 5e9);
  EXPECT_GT(model.sweet_spot(256).writers, 100u);
  EXPECT_EQ(kSsd.sweet_spot(256).writers, 16u);
  EXPECT_EQ(kSsd.sweet_spot(3).writers, 3u) << "no more than may be used";
}

}  // namespace
}  // namespace perdure::placement
