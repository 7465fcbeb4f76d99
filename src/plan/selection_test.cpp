#include "plan/selection.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

TEST(AttemptTime, IsTheClocksWhileItGoesForwardAndAlwaysLaterThanWhatIsKnown) {
  EXPECT_EQ(attempt_time(1000, 0), 1000u);
  EXPECT_EQ(attempt_time(1000, 999), 1000u);
  EXPECT_EQ(attempt_time(1000, 1000), 1001u);
  EXPECT_EQ(attempt_time(1000, 5000), 5001u);
  EXPECT_EQ(attempt_time(0, 0), 1u);
  EXPECT_EQ(attempt_time(1000, ~0ULL), ~0ULL) << "not 0";
}

}  // namespace
}  // namespace perdure::plan
