#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "support/temporary_directory.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

TEST(Registry, MakesTheTiersItKnows) {
  test_support::TemporaryDirectory directory;
  for (const std::string& kind : tier_names()) {
    auto tier = make_tier(kind, {0, directory / kind, base::MiB, 4 * base::MiB});
    ASSERT_TRUE(tier) << kind;
    EXPECT_EQ((*tier)->properties().name, kind);
  }
}

TEST(Registry, RefusesAnotherKindAndNamesTheKnownOnes) {
  auto refused = make_tier("tape", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(refused.error().text().find("'tape'"), std::string::npos);
  for (const std::string& kind : tier_names()) EXPECT_NE(refused.error().text().find(kind), std::string::npos);
}

}  // namespace
}  // namespace perdure::tier
