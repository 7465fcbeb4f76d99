// Checks the rules that every placement policy keeps. Enrolled: all of registry.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "placement/choices.hpp"
#include "placement/registry.hpp"
#include "placement/views_testing.hpp"

namespace perdure::placement {
namespace {

class Conformance : public testing::TestWithParam<Policy> {
 protected:
  Decision decide(const Situation& situation) const { return GetParam().decide(situation.view()); }
};

INSTANTIATE_TEST_SUITE_P(Policies, Conformance, testing::ValuesIn(policies()), [](const auto& policy) {
  std::string name = policy.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

bool any_healthy_room(const Situation& s) { return std::any_of(s.tiers.begin(), s.tiers.end(), usable); }
bool any_room(const Situation& s) {
  return std::any_of(s.tiers.begin(), s.tiers.end(), [](const TierState& t) { return t.free_slots > 0; });
}
bool any_hope(const Situation& s) {
  return std::any_of(s.tiers.begin(), s.tiers.end(), [](const TierState& t) { return t.slots_to_come > 0; });
}
bool healthy_hope(const Situation& s) {
  return std::any_of(s.tiers.begin(), s.tiers.end(),
                     [](const TierState& t) { return t.slots_to_come > 0 && !t.failed; });
}

TEST_P(Conformance, KeepsItsPromisesInAnySituation) {
  std::mt19937_64 random(7);
  int taken = 0, waited = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Situation s = random_situation(random);
    const Decision d = decide(s);
    ASSERT_EQ(d.tier.has_value(), !is_wait(d.reason) && d.reason != Reason::nowhere) << i;
    for (double figure : {d.tier_bytes_per_s, d.flush_bytes_per_s, d.write_s, d.rest_s})
      ASSERT_TRUE(std::isfinite(figure) && figure >= 0) << i;
    if (d.tier) {
      ++taken;
      ASSERT_LT(*d.tier, s.tiers.size());
      ASSERT_GT(s.tiers[*d.tier].free_slots, 0u) << i;
      ASSERT_FALSE(s.tiers[*d.tier].failed && (any_healthy_room(s) || healthy_hope(s))) << i;
      ASSERT_EQ(s.tiers[*d.tier].failed, d.reason == Reason::failed_last_resort) << i;
    } else {
      ++waited;
      ASSERT_EQ(any_hope(s), is_wait(d.reason)) << i << ": a wait without hope, or a refusal with it";
      ASSERT_FALSE(d.reason == Reason::nowhere && any_room(s)) << i;
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(waited, 1000);
}

TEST_P(Conformance, IsPure) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 100; ++i) {
    const Situation s = random_situation(random);
    const Decision a = decide(s), b = decide(s);
    EXPECT_EQ(a.tier, b.tier);
    EXPECT_EQ(a.reason, b.reason);
  }
}

TEST_P(Conformance, UsesASingleTierWhileItHasRoomAndWaitsWhenItIsFull) {
  Situation s = full_cache(2e9);
  s.tiers.resize(1);
  EXPECT_EQ(decide(s).reason, Reason::wait_full);
  s.tiers[0].free_slots = 1;
  EXPECT_EQ(decide(s).tier, 0u);
}

TEST_P(Conformance, TakesWhatHasRoomWhenNoFlushCanFreeASlot) {
  Situation s = full_cache(100e9);
  for (auto& tier : s.tiers) tier.slots_to_come = 0;
  EXPECT_EQ(decide(s).tier, 1u);
  s.tiers[1].failed = true;
  EXPECT_EQ(decide(s).tier, 1u);
  EXPECT_EQ(decide(s).reason, Reason::failed_last_resort);
  s.tiers[1].free_slots = 0;
  EXPECT_EQ(decide(s).reason, Reason::nowhere);
}

TEST_P(Conformance, AvoidsAFailedTierWhileAnotherHasRoomOrWillHaveIt) {
  Situation s = full_cache(2e9);
  s.tiers[0].free_slots = s.tiers[1].free_slots = 5;
  s.tiers[1].slots_to_come = 5;
  for (std::size_t failed : {0u, 1u}) {
    s.tiers[0].failed = failed == 0;
    s.tiers[1].failed = failed == 1;
    const Decision d = decide(s);
    EXPECT_NE(d.tier, failed);
  }
  s.tiers[0].free_slots = 0;  // only the failed one has room, and the other will have it
  EXPECT_TRUE(is_wait(decide(s).reason));
}

TEST_P(Conformance, RefusesWhereThereIsNoTier) { EXPECT_EQ(decide({}).reason, Reason::nowhere); }

TEST(Registry, FindsPoliciesByNameAndNamesThemAllInItsRefusal) {
  std::set<std::string> names;
  for (const Policy& policy : policies()) {
    EXPECT_TRUE(names.insert(policy.name).second);
    EXPECT_EQ(find_policy(policy.name).value(), &policy);
    EXPECT_THAT(find_policy("optimal").error().text(), testing::HasSubstr(policy.name));
  }
}

TEST(Registry, EveryReasonHasItsOwnWords) {
  std::set<std::string> names, texts;
  for (int i = 0; i <= static_cast<int>(Reason::nowhere); ++i) {
    EXPECT_TRUE(names.insert(reason_name(static_cast<Reason>(i))).second);
    EXPECT_TRUE(texts.insert(reason_text(static_cast<Reason>(i))).second);
  }
  EXPECT_EQ(names.count("unknown"), 0u);
}

}  // namespace
}  // namespace perdure::placement
