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

// A node is late with its part of an older version that is kept.
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

// A program was restored to an older version and went on from there, so the newest attempt is not the highest version.
TEST(RetentionDecision, GivesUpTheBranchThatWasLeftFirst) {
  EXPECT_EQ(removed(decide_retention({2, 0}, {listing(5, 5, true), listing(9, 9, true), listing(10, 10, true),
                                              listing(6, 11, true), listing(7, 12, true)})),
            (Pairs{{5, 5}, {9, 9}, {10, 10}}));
  EXPECT_EQ(removed(decide_retention({2, 0}, {listing(9, 9, true), listing(10, 10, true), listing(9, 13, true)})),
            (Pairs{{9, 9}}));
}

JudgedListing on_branch(plan::Branch branch, std::uint64_t version, std::uint64_t attempt, bool complete = true) {
  return {{"app", version, {attempt, plan::nonce_on(branch, 1)}}, complete};
}

TEST(RetentionDecision, GoesByTheLineOfWhatWasSetAsideAndRemovesNothingOfThat) {
  std::vector<JudgedListing> all;
  for (std::uint64_t version = 1; version <= 5; ++version) all.push_back(on_branch(1, version, version));
  const std::vector<segment::VersionId> aside{on_branch(2, 4, 9).id};
  const std::vector<plan::Fork> forks{{2, 1, 3, 3}};
  const auto decision = decide_retention({1, 0}, all, forks, aside);
  EXPECT_EQ(removed(decision), (Pairs{{1, 1}, {2, 2}, {4, 4}}));
  EXPECT_FALSE(decision.unfinished || decision.late);
  all.push_back(on_branch(2, 4, 10));
  EXPECT_EQ(removed(decide_retention({1, 0}, all, forks, aside)), (Pairs{{1, 1}, {2, 2}, {3, 3}, {4, 4}}))
      << "a newer attempt is complete, and there is nothing to remove of the one that was set aside";
}

TEST(RetentionDecision, LeavesAnotherRunAloneAndDoesNotWaitForItsParts) {
  const std::vector<JudgedListing> all{on_branch(1, 100, 1),        on_branch(1, 200, 2), on_branch(1, 300, 3),
                                       on_branch(1, 400, 4, false), on_branch(2, 100, 5), on_branch(2, 200, 6),
                                       on_branch(2, 300, 7)};
  const auto decision = decide_retention({2, 0}, all);
  EXPECT_EQ(removed(decision), (Pairs{{100, 5}}));
  EXPECT_FALSE(decision.unfinished || decision.late);
}

TEST(RetentionDecision, KeepsTheNewestOfABranchThatWasLeftBesideTheLine) {
  std::vector<JudgedListing> all;
  for (std::uint64_t version = 4; version <= 8; ++version) all.push_back(on_branch(1, version, version));
  for (std::uint64_t version = 6; version <= 8; ++version) all.push_back(on_branch(2, version, 10 + version));
  EXPECT_EQ(removed(decide_retention({2, 0}, all, {{2, 1, 5, 5}})), (Pairs{{4, 4}, {5, 5}, {6, 6}, {6, 16}}));
}

TEST(RetentionDecision, WhatCannotBeReadDoesNotBringALeftBranchBack) {
  auto unread = on_branch(2, 10, 5, false);
  unread.present = true;
  const auto decision = decide_retention({1, 0}, {on_branch(1, 100, 1), on_branch(1, 200, 2), unread});
  EXPECT_TRUE(decision.remove.empty()) << "it is of a run that this one did not go on from";
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
