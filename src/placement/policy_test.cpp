#include "placement/policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::placement {
namespace {

using Tiers = std::vector<TierView>;

TEST(Policy, TakesTheFastestTierWithRoom) {
  EXPECT_EQ(first_with_room(Tiers{{true, false, 9}, {true, false, 0}}), 0u);
  EXPECT_EQ(first_with_room(Tiers{{false, false, 0}, {true, false, 5}}), 1u);
}

TEST(Policy, TakesAFailedTierOnlyWhenNoOtherHasRoom) {
  EXPECT_EQ(first_with_room(Tiers{{true, true, 0}, {true, false, 0}}), 1u);
  EXPECT_EQ(first_with_room(Tiers{{true, true, 0}, {false, false, 0}}), 0u);
  EXPECT_EQ(first_with_room(Tiers{{true, true, 0}, {true, true, 0}}), 0u);
}

TEST(Policy, WaitsWhenNobodyHasRoom) {
  EXPECT_EQ(first_with_room(Tiers{{false, false, 0}, {false, true, 0}}), std::nullopt);
  EXPECT_EQ(first_with_room(Tiers{}), std::nullopt);
}

}  // namespace
}  // namespace perdure::placement
