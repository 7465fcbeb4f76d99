#include "os/quota.hpp"

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

TEST(Quotas, LeaveWhatIsNotUsed) {
  const Quota none;
  EXPECT_EQ(none.left_bytes(), Quota::kUnlimited);
  EXPECT_EQ(none.left_files(), Quota::kUnlimited);
  const Quota some{1000, 400, 10, 12};
  EXPECT_EQ(some.left_bytes(), 600U);
  EXPECT_EQ(some.left_files(), 0U) << "more than the limit are there: it was lowered";
}

TEST(Quotas, OfAUserAndAGroupCountWhereTheyLeaveLess) {
  const Quota user{1000, 400, Quota::kUnlimited, 5}, group{5000, 4900, 10, 9};
  const Quota less = less_of(user, group);
  EXPECT_EQ(less.left_bytes(), 100U);
  EXPECT_EQ(less.limit_bytes, 5000U);
  EXPECT_EQ(less.left_files(), 1U);
  EXPECT_EQ(less_of(group, user).left_bytes(), 100U);
}

TEST(Quotas, OfWhatIsNotThereAreNone) {
  const test_support::TemporaryDirectory directory;
  EXPECT_FALSE(quota(directory / "none"));
  const auto here = quota(directory.path());
  EXPECT_TRUE(!here || here->left_bytes() <= here->limit_bytes);
}

}  // namespace
}  // namespace perdure::os
