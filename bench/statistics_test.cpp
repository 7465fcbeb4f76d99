#include "statistics.hpp"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(Statistics, TakesTheMedianOfOddEvenAndNoValues) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
}

TEST(Statistics, ASpreadHasTheEndsToo) {
  const Spread some = spread({4, 1, 2, 3});
  EXPECT_EQ(some.min, 1);
  EXPECT_EQ(some.median, 2.5);
  EXPECT_EQ(some.max, 4);
  EXPECT_EQ(spread({}).max, 0);
}

}  // namespace
}  // namespace perdure::bench
