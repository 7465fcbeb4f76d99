#include "simulate/oracle.hpp"

#include <gtest/gtest.h>

#include "simulate/scenario_testing.hpp"

namespace perdure::simulate {
namespace {

TEST(Oracle, IsNeverBehindAPolicyInBoth) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Scenario scenario = random_scenario(seed);
    scenario.failures.clear();
    const auto best = oracle(scenario).value();
    EXPECT_GE(best.simulated, 4u);
    EXPECT_EQ(best.simulated > 4, scenario.node.tiers.size() > 1);
    for (const auto& policy : placement::policies()) {
      if (std::string(policy.name) == "cache-only") continue;
      const Outcome other = run(scenario, policy).value();
      EXPECT_LE(best.outcome.flush_completion_s, 1.01 * other.flush_completion_s) << seed << policy.name;
      if (other.flush_completion_s <= best.outcome.flush_completion_s / 1.01) continue;
      EXPECT_FALSE(other.local_phase_s < best.outcome.local_phase_s &&
                   other.flush_completion_s <= best.outcome.flush_completion_s)
          << seed << policy.name;
    }
  }
}

TEST(Oracle, KnowsThatASlowDiskHelpsWhileTheStoreIsSlowerStill) {
  Scenario scenario = by_hand(8, 8, 4);
  const auto best = oracle(scenario).value();
  EXPECT_GT(best.outcome.chunks[1], 0u) << best.plan;
  Scenario without = scenario;
  without.node.tiers.pop_back();
  EXPECT_LT(best.outcome.local_phase_s, 0.9 * oracle(without)->outcome.local_phase_s);
}

}  // namespace
}  // namespace perdure::simulate
