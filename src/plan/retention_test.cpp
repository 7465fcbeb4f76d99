#include "plan/retention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace perdure::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<StoredVersion> complete(std::initializer_list<std::uint64_t> versions) {
  std::vector<StoredVersion> stored;
  for (auto version : versions) stored.push_back({version, true});
  return stored;
}

/// Returns the numbers of the removed versions.
std::vector<std::uint64_t> retired(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored) {
  std::vector<std::uint64_t> versions;
  for (const std::size_t place : retire(policy, stored)) versions.push_back(stored.at(place).version);
  std::sort(versions.begin(), versions.end());
  return versions;
}

TEST(Retention, GivesUpNothingOfAnEmptyStore) { EXPECT_THAT(retired({2, 0}, {}), IsEmpty()); }

TEST(Retention, KeepsTheNewestVersionsWhateverTheirOrder) {
  EXPECT_THAT(retired({2, 0}, complete({7, 1, 5, 3})), ElementsAre(1, 3));
}

TEST(Retention, KeepsEveryKthVersionToo) {
  EXPECT_THAT(retired({1, 10}, complete({0, 5, 10, 15, 20, 25})), ElementsAre(5, 15));
}

TEST(Retention, NeverGivesUpTheOnlyCompleteVersionEvenWhenToldToKeepNone) {
  EXPECT_THAT(retired({0, 0}, complete({3})), IsEmpty());
  EXPECT_THAT(retired({0, 0}, complete({3, 4})), ElementsAre(3));
}

TEST(Retention, GivesUpIncompleteVersionsOlderThanTheNewestCompleteOne) {
  EXPECT_THAT(retired({5, 0}, {{1, false}, {2, true}, {3, false}, {4, true}, {5, false}}), ElementsAre(1, 3));
}

TEST(Retention, KeepsIncompleteVersionsWhileNothingIsComplete) {
  EXPECT_THAT(retired({1, 0}, {{1, false}, {2, false}}), IsEmpty());
}

TEST(Retention, DoesNotCountIncompleteVersionsAmongTheNewest) {
  EXPECT_THAT(retired({2, 0}, {{1, true}, {2, true}, {3, false}, {4, true}, {9, false}}), ElementsAre(1, 3));
}

TEST(Retention, TakesAVersionWithTwoAttemptsAsCompleteWhenOneIs) {
  EXPECT_THAT(retired({1, 0}, {{1, true}, {2, false, 1}, {2, true, 2}, {2, false, 3}}), ElementsAre(1, 2));
}

TEST(Retention, AnIncompleteVersionIsNoLandmark) {
  EXPECT_THAT(retired({1, 10}, {{10, false}, {11, true}}), ElementsAre(10));
}

// A node that is slower, or was hindered, brings its part of an older version last.
TEST(Retention, WhatMayStillArriveStaysAsLongAsItWouldIfItWereComplete) {
  const RetentionPolicy policy{2, 0, true};
  EXPECT_THAT(retired(policy, {{1, true}, {2, true}, {3, false}, {4, true}}), ElementsAre(1));
  EXPECT_THAT(retired(policy, {{3, false}, {4, true}, {5, true}}), ElementsAre(3));
  EXPECT_THAT(retired(policy, {{3, false}, {4, true}, {5, false}, {6, true}}), ElementsAre(3));
  EXPECT_THAT(retired(policy, {{3, false}, {4, false}, {5, true}}), IsEmpty());
}

TEST(Retention, AMultipleThatMayStillArriveStaysUntilANewerOneIsComplete) {
  const RetentionPolicy policy{1, 10, true};
  EXPECT_THAT(retired(policy, {{10, false}, {11, true}, {12, true}}), ElementsAre(11));
  EXPECT_THAT(retired(policy, {{10, false}, {12, true}, {20, true}}), ElementsAre(10, 12));
  EXPECT_THAT(retired(policy, {{10, false}, {20, false}, {21, true}}), IsEmpty());
}

// Older attempts at a version are of no more use; a newer one may replace the complete one.
TEST(Retention, ANewerAttemptThatMayStillArriveStaysBesideTheCompleteOne) {
  const RetentionPolicy policy{3, 0, true};
  EXPECT_THAT(retire(policy, {{7, true, 7}, {7, false, 9}, {8, true, 10}}), IsEmpty());
  EXPECT_THAT(retire(policy, {{7, false, 7}, {7, true, 9}, {8, true, 10}}), ElementsAre(0));
  EXPECT_THAT(retire(policy, {{7, true, 7}, {7, true, 9}, {8, true, 10}}), ElementsAre(0));
}

TEST(Retention, NeverLeavesAStoreWithoutACompleteVersionOverRandomStores) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<StoredVersion> stored;
    std::set<std::uint64_t> all_complete;
    for (std::uint64_t n = random() % 12; n > 0; --n) {
      stored.push_back({random() % 20, random() % 3 != 0});
      if (stored.back().complete) all_complete.insert(stored.back().version);
    }
    const RetentionPolicy policy{random() % 4, random() % 5, random() % 2 == 0};
    const auto given_up = retire(policy, stored);
    EXPECT_TRUE(std::is_sorted(given_up.begin(), given_up.end()));
    for (auto place = given_up.rbegin(); place != given_up.rend(); ++place) {
      EXPECT_TRUE(all_complete.empty() || stored[*place].version <= *all_complete.rbegin());
      stored.erase(stored.begin() + static_cast<std::ptrdiff_t>(*place));
    }
    if (!all_complete.empty()) {
      EXPECT_TRUE(std::any_of(stored.begin(), stored.end(), [&](auto& s) {
        return s.complete && s.version == *all_complete.rbegin();
      })) << "the newest complete one stays";
    }
    const bool had = std::any_of(stored.begin(), stored.end(), [](auto& s) { return s.complete; });
    EXPECT_EQ(had, !all_complete.empty());
    EXPECT_THAT(retired(policy, stored), IsEmpty()) << "retirement must settle in one step";
  }
}

// The program goes back to 5 and on from there: 9 and 10 are of the branch that it left.
TEST(Retention, NewerIsWhatWasBegunLaterNotTheHigherNumber) {
  EXPECT_THAT(retired({2, 0}, {{5, true, 5}, {9, true, 9}, {10, true, 10}, {6, true, 11}}), ElementsAre(5, 9));
  EXPECT_THAT(retired({2, 0}, {{9, true, 9}, {10, true, 10}, {6, true, 11}, {7, true, 12}}), ElementsAre(9, 10));
  EXPECT_THAT(retired({2, 0}, {{10, false, 10}, {6, true, 11}, {7, false, 12}}), ElementsAre(10));
  EXPECT_THAT(retired({1, 0}, {{6, true, 3}, {6, true, 11}, {10, true, 10}}), ElementsAre(6, 10));
}

/// Makes an attempt of a branch.
StoredVersion of(Branch branch, std::uint64_t version, std::uint64_t begun_ns, bool complete = true) {
  return {version, complete, begun_ns, branch};
}

/// Returns the remaining versions of `stored`, by when they began.
std::vector<std::uint64_t> kept(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored,
                                const std::vector<Fork>& forks = {}) {
  const auto given_up = retire(policy, stored, forks);
  std::vector<std::uint64_t> left;
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (!std::binary_search(given_up.begin(), given_up.end(), i)) left.push_back(stored[i].begun_ns);
  std::sort(left.begin(), left.end());
  return left;
}

constexpr RetentionPolicy kOfAnEngine{.keep_last = 2, .may_arrive = true, .other_runs = false};

// A finished run has versions 100, 200 and 300; a launch that restored nothing writes 10, 20 and 30.
TEST(Retention, ANewStartGivesUpNothingOfTheRunBeforeIt) {
  const std::vector<StoredVersion> stored{of(1, 100, 1), of(1, 200, 2), of(1, 300, 3),
                                          of(2, 10, 4),  of(2, 20, 5),  of(2, 30, 6)};
  EXPECT_THAT(kept(kOfAnEngine, stored), ElementsAre(1, 2, 3, 5, 6));
  EXPECT_THAT(kept({2, 0}, stored), ElementsAre(2, 3, 5, 6)) << "who is asked about all runs keeps keep_last of each";
}

TEST(Retention, EqualNumbersOfTwoRunsAreTwoVersions) {
  const std::vector<StoredVersion> stored{of(1, 100, 1), of(1, 200, 2), of(2, 100, 3), of(2, 200, 4), of(2, 300, 5)};
  EXPECT_THAT(kept(kOfAnEngine, stored), ElementsAre(1, 2, 4, 5));
}

// 6 to 10 stay behind; 6, 7 and 8 are written again, after 5.
TEST(Retention, GoingBackKeepsTheNewestOfTheBranchThatWasLeft) {
  std::vector<StoredVersion> stored;
  for (std::uint64_t version = 4; version <= 10; ++version) stored.push_back(of(1, version, version));
  for (std::uint64_t version = 6; version <= 8; ++version) stored.push_back(of(2, version, 10 + version));
  EXPECT_THAT(kept(kOfAnEngine, stored, {{2, 1, 5, 5}}), ElementsAre(9, 10, 17, 18));
  stored.resize(8);  // only 6 was written
  EXPECT_THAT(kept(kOfAnEngine, stored, {{2, 1, 5, 5}}), ElementsAre(5, 9, 10, 16)) << "5 is of this line";
}

TEST(Retention, WhereNobodyKnowsTheForkMoreIsKept) {
  const std::vector<StoredVersion> stored{of(1, 4, 4), of(1, 5, 5), of(1, 6, 6), of(2, 6, 7), of(2, 7, 8), of(2, 8, 9)};
  EXPECT_THAT(kept(kOfAnEngine, stored), ElementsAre(4, 5, 6, 8, 9));
}

TEST(Retention, OfAnotherRunEvenWhatIsIncompleteIsLeftAlone) {
  const std::vector<StoredVersion> stored{of(1, 100, 1), of(1, 200, 2, false), of(2, 10, 3), of(2, 20, 4)};
  EXPECT_THAT(kept(kOfAnEngine, stored), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(kept({2, 0}, stored), ElementsAre(1, 3, 4)) << "a person asked: nothing may arrive any more";
}

TEST(Retention, WhatStayedIncompleteOnALeftBranchGoesWhenTheLineHasEnough) {
  const std::vector<Fork> forks{{2, 1, 5, 5}};
  std::vector<StoredVersion> stored{of(1, 5, 5), of(1, 6, 6, false), of(2, 6, 7)};
  EXPECT_THAT(kept(kOfAnEngine, stored, forks), ElementsAre(5, 6, 7));
  stored.push_back(of(2, 7, 8));
  EXPECT_THAT(kept(kOfAnEngine, stored, forks), ElementsAre(7, 8));
}

TEST(Retention, AVersionThatTurnsOutDamagedDoesNotChangeWhichLineGoesOn) {
  std::vector<StoredVersion> stored;
  for (std::uint64_t version = 3; version <= 10; ++version) stored.push_back(of(1, version, version));
  stored.push_back({6, false, 11, 2, true});
  EXPECT_EQ(current_branch(stored), 2U);
  EXPECT_THAT(kept(kOfAnEngine, stored, {{2, 1, 5, 5}}), ElementsAre(4, 5, 9, 10, 11)) << "5 is what is left of it";
}

TEST(Retention, KeepsMultiplesOnEachBranch) {
  const RetentionPolicy policy{.keep_last = 1, .keep_every = 10};
  EXPECT_THAT(kept(policy, {of(1, 10, 1), of(1, 15, 2), of(1, 16, 3), of(2, 10, 4), of(2, 11, 5), of(2, 12, 6)}),
              ElementsAre(1, 3, 4, 6));
}

// For all branches and callers: each group keeps a complete version if it had one, and one call removes all that can
// go.
TEST(Retention, NeverLeavesABranchWithoutACompleteVersionOverRandomBranches) {
  std::mt19937_64 random(38);
  for (int round = 0; round < 3000; ++round) {
    std::vector<StoredVersion> stored;
    std::vector<Fork> forks;
    for (std::uint64_t begun = 1, n = random() % 14; begun <= n; ++begun)
      stored.push_back(of(static_cast<Branch>(random() % 4), random() % 6, begun, random() % 4 != 0));
    for (Branch branch = 1; branch < 4; ++branch)
      if (random() % 2 == 0) forks.push_back({branch, static_cast<Branch>(random() % branch), 0, random() % 10});
    const RetentionPolicy policy{random() % 3, random() % 4, random() % 2 == 0, random() % 2 == 0};
    const Branch current = current_branch(stored);
    const Line line = line_of(forks, current);
    const auto group = [&](const StoredVersion& one) {
      return on_line(line, one.branch, one.begun_ns) ? ~Branch{0} : one.branch;
    };
    const auto given_up = retire(policy, stored, forks);
    std::set<Branch> had, has;
    std::vector<StoredVersion> rest;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const bool gone = std::binary_search(given_up.begin(), given_up.end(), i);
      if (stored[i].complete) had.insert(group(stored[i]));
      if (stored[i].complete && !gone) has.insert(group(stored[i]));
      if (!gone) rest.push_back(stored[i]);
      if (gone && !policy.other_runs) {
        EXPECT_TRUE(related(forks, stored[i].branch, current) || group(stored[i]) == ~Branch{0}) << round;
      }
    }
    EXPECT_EQ(had, has) << round;
    EXPECT_THAT(retire(policy, rest, forks), IsEmpty()) << round;
  }
}

TEST(Retention, CopesWithTheLargestVersion) {
  EXPECT_THAT(retired({1, 1}, complete({0, UINT64_MAX})), IsEmpty());
  EXPECT_THAT(retired({UINT64_MAX, 0}, complete({0, UINT64_MAX})), IsEmpty());
}

}  // namespace
}  // namespace perdure::plan
