// Tests sums that do not depend on the order. They compare with integer sums that no double holds and with long double
// where it is exact. They also cover the limits of the number range.
#include "mesh/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace perdure::mesh {
namespace {

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

TEST(ExactSums, OfIntegersAreRoundedOnce) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    __extension__ __int128 exact = 0;
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) {
      const auto bits = static_cast<unsigned>(random() % 61);
      const auto value = static_cast<std::int64_t>(random() >> (63 - bits)) * (random() % 2 == 0 ? 1 : -1);
      values.push_back(static_cast<double>(value));
      exact += static_cast<std::int64_t>(values.back());
    }
    // Both conversions of the compiler round to nearest even.
    ASSERT_EQ(sum_of(values), static_cast<double>(exact)) << "round " << round;
  }
}

TEST(ExactSums, DoNotDependOnTheOrderOrOnRanks) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i)
      values.push_back(std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 600) - 300));
    const double expected = sum_of(values);
    std::shuffle(values.begin(), values.end(), random);
    ASSERT_EQ(sum_of(values), expected);
    ExactSum parts[3];
    for (const double value : values) parts[random() % 3].add(value);
    for (int i = 1; i < 3; ++i)
      for (std::size_t digit = 0; digit < parts[0].digits().size(); ++digit)
        parts[0].digits()[digit] += parts[i].digits()[digit];
    ASSERT_EQ(parts[0].value(), expected);
  }
}

TEST(ExactSums, LoseNothingOfWhatCancels) {
  EXPECT_EQ(sum_of({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sum_of({1e300, 1e-300, -1e300}), 1e-300);
  EXPECT_EQ(sum_of({1.5, -1.5}), 0);
  EXPECT_FALSE(std::signbit(sum_of({1.5, -1.5})));
  EXPECT_EQ(sum_of({}), 0);
  EXPECT_EQ(sum_of({-0.1}), -0.1);
  const double half = std::ldexp(1, -53);
  EXPECT_EQ(sum_of({1, half}), 1) << "a tie goes to the even one";
  EXPECT_EQ(sum_of({1, half, std::ldexp(1, -1074)}), 1 + 2 * half) << "and is none with anything more";
  EXPECT_EQ(sum_of({1 + 2 * half, half}), 1 + 4 * half);
}

TEST(ExactSums, ReachFromTheLeastNumberToTheGreatest) {
  const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  EXPECT_EQ(sum_of({least, least, least}), 3 * least);
  EXPECT_EQ(sum_of({std::numeric_limits<double>::min(), -least}), std::numeric_limits<double>::min() - least);
  EXPECT_EQ(sum_of({most, most, -most}), most);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({most, most}), infinite);
  EXPECT_EQ(sum_of({1, infinite}), infinite);
  EXPECT_EQ(sum_of({1, -infinite, 2}), -infinite);
  EXPECT_TRUE(std::isnan(sum_of({infinite, -infinite})));
  EXPECT_TRUE(std::isnan(sum_of({1, std::numeric_limits<double>::quiet_NaN()})));
}

}  // namespace
}  // namespace perdure::mesh
