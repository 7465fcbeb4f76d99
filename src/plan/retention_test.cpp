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

/// The versions of what is given up.
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

// Attempts at one version: of the older ones nothing more is needed; a newer one may replace the complete one.
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

// Back to 5 and on from there: 9 and 10 are of the branch that was left.
TEST(Retention, NewerIsWhatWasBegunLaterNotTheHigherNumber) {
  EXPECT_THAT(retired({2, 0}, {{5, true, 5}, {9, true, 9}, {10, true, 10}, {6, true, 11}}), ElementsAre(5, 9));
  EXPECT_THAT(retired({2, 0}, {{9, true, 9}, {10, true, 10}, {6, true, 11}, {7, true, 12}}), ElementsAre(9, 10));
  EXPECT_THAT(retired({2, 0}, {{10, false, 10}, {6, true, 11}, {7, false, 12}}), ElementsAre(10));
  EXPECT_THAT(retired({1, 0}, {{6, true, 3}, {6, true, 11}, {10, true, 10}}), ElementsAre(6, 10));
}

TEST(Retention, CopesWithTheLargestVersion) {
  EXPECT_THAT(retired({1, 1}, complete({0, UINT64_MAX})), IsEmpty());
  EXPECT_THAT(retired({UINT64_MAX, 0}, complete({0, UINT64_MAX})), IsEmpty());
}

}  // namespace
}  // namespace perdure::plan
