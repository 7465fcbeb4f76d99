#include "engine/upkeep/retention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace perdure::engine {
namespace {

JudgedListing listing(std::uint64_t version, std::uint64_t attempt, bool complete) {
  return {{"app", version, {attempt, 1}}, complete};
}
std::vector<std::pair<std::uint64_t, std::uint64_t>> removed(const RetentionDecision& decision) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
  for (const auto& id : decision.remove) list.emplace_back(id.version, id.attempt.created_ns);
  std::sort(list.begin(), list.end());
  return list;
}
using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(RetentionDecision, KeepsTheNewestAndEveryKth) {
  std::vector<JudgedListing> all;
  for (std::uint64_t v = 1; v <= 6; ++v) all.push_back(listing(v, v, true));
  EXPECT_EQ(removed(decide_retention({2, 3}, all)), (Pairs{{1, 1}, {2, 2}, {4, 4}}));
}

TEST(RetentionDecision, NeverTouchesWhatIsStillArrivingAndLooksAgain) {
  const auto decision = decide_retention({1, 0}, {listing(1, 1, true), listing(2, 2, true), listing(3, 3, false)});
  EXPECT_EQ(removed(decision), (Pairs{{1, 1}}));
  EXPECT_TRUE(decision.unfinished);
}

// Some node is late with its part of an older version, which is among those that are kept.
TEST(RetentionDecision, LooksAgainAtWhatIsIncompleteBehindANewerCompleteOne) {
  const auto decision = decide_retention({2, 0}, {listing(1, 1, false), listing(2, 2, true)});
  EXPECT_TRUE(decision.remove.empty());
  EXPECT_TRUE(decision.late);
  EXPECT_FALSE(decision.unfinished) << "a job that ends does not wait long for it: its writer may have died";
}

TEST(RetentionDecision, GivesUpWhatStayedIncompleteBehindAllThatAreKept) {
  const auto decision = decide_retention({2, 0}, {listing(1, 1, false), listing(2, 2, true), listing(3, 3, true)});
  EXPECT_EQ(removed(decision), (Pairs{{1, 1}}));
  EXPECT_FALSE(decision.unfinished || decision.late);
}

TEST(RetentionDecision, OfTwoCompleteAttemptsTheNewerStays) {
  EXPECT_EQ(removed(decide_retention({5, 0}, {listing(1, 1, true), listing(1, 2, true)})), (Pairs{{1, 1}}));
}

TEST(RetentionDecision, AnUnfinishedReplacementLeavesTheOldAttemptAlone) {
  const auto decision = decide_retention({1, 0}, {listing(1, 1, true), listing(1, 2, false)});
  EXPECT_TRUE(decision.remove.empty());
  EXPECT_TRUE(decision.unfinished);
}

TEST(RetentionDecision, WaitsForNothingWhenTheNewestIsDamaged) {
  auto damaged = listing(3, 3, false);
  damaged.damaged = true;
  const auto decision = decide_retention({1, 0}, {listing(1, 1, true), listing(2, 2, true), damaged});
  EXPECT_EQ(removed(decision), (Pairs{{1, 1}}));
  EXPECT_FALSE(decision.unfinished);
}

// A program that was restored to an older version and went on from there: the newest attempt is not the highest
// version.
TEST(RetentionDecision, GivesUpTheBranchThatWasLeftFirst) {
  EXPECT_EQ(removed(decide_retention({2, 0}, {listing(5, 5, true), listing(9, 9, true), listing(10, 10, true),
                                              listing(6, 11, true), listing(7, 12, true)})),
            (Pairs{{5, 5}, {9, 9}, {10, 10}}));
  EXPECT_EQ(removed(decide_retention({2, 0}, {listing(9, 9, true), listing(10, 10, true), listing(9, 13, true)})),
            (Pairs{{9, 9}}));
}

TEST(RetentionDecision, NeverGivesUpTheNewestAttempt) {
  const auto decision = decide_retention({1, 0}, {listing(9, 1, true), listing(2, 5, true)});
  for (const auto& id : decision.remove) EXPECT_NE(id.version, 2u);
}

TEST(RetentionDecision, AlwaysLeavesACompleteVersionOverRandomStores) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 2000; ++round) {
    std::vector<JudgedListing> all;
    for (std::uint64_t i = 0, n = random() % 9; i < n; ++i)
      all.push_back(listing(random() % 5, i + 1, random() % 2 == 0));
    const auto decision = decide_retention({random() % 3, random() % 4}, all);
    const bool had = std::any_of(all.begin(), all.end(), [](const auto& l) { return l.complete; });
    const bool has = std::any_of(all.begin(), all.end(), [&](const auto& l) {
      return l.complete && std::find(decision.remove.begin(), decision.remove.end(), l.id) == decision.remove.end();
    });
    ASSERT_EQ(had, has) << round;
    ASSERT_TRUE(had || decision.remove.empty()) << round;
    auto unique = removed(decision);
    ASSERT_EQ(std::adjacent_find(unique.begin(), unique.end()), unique.end()) << "removed twice";
  }
}

}  // namespace
}  // namespace perdure::engine
