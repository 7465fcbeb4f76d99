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

TEST(Retention, GivesUpNothingOfAnEmptyStore) { EXPECT_THAT(retire({2, 0}, {}), IsEmpty()); }

TEST(Retention, KeepsTheNewestVersionsWhateverTheirOrder) {
  EXPECT_THAT(retire({2, 0}, complete({7, 1, 5, 3})), ElementsAre(1, 3));
}

TEST(Retention, KeepsEveryKthVersionToo) {
  EXPECT_THAT(retire({1, 10}, complete({0, 5, 10, 15, 20, 25})), ElementsAre(5, 15));
}

TEST(Retention, NeverGivesUpTheOnlyCompleteVersionEvenWhenToldToKeepNone) {
  EXPECT_THAT(retire({0, 0}, complete({3})), IsEmpty());
  EXPECT_THAT(retire({0, 0}, complete({3, 4})), ElementsAre(3));
}

TEST(Retention, GivesUpIncompleteVersionsOlderThanTheNewestCompleteOne) {
  EXPECT_THAT(retire({5, 0}, {{1, false}, {2, true}, {3, false}, {4, true}, {5, false}}), ElementsAre(1, 3));
}

TEST(Retention, KeepsIncompleteVersionsWhileNothingIsComplete) {
  EXPECT_THAT(retire({1, 0}, {{1, false}, {2, false}}), IsEmpty());
}

TEST(Retention, DoesNotCountIncompleteVersionsAmongTheNewest) {
  EXPECT_THAT(retire({2, 0}, {{1, true}, {2, true}, {3, false}, {4, true}, {9, false}}), ElementsAre(1, 3));
}

TEST(Retention, TakesAVersionWithTwoAttemptsAsCompleteWhenOneIs) {
  EXPECT_THAT(retire({1, 0}, {{1, true}, {2, false}, {2, true}, {2, false}}), ElementsAre(1));
}

TEST(Retention, AnIncompleteVersionIsNoLandmark) {
  EXPECT_THAT(retire({1, 10}, {{10, false}, {11, true}}), ElementsAre(10));
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
    const RetentionPolicy policy{random() % 4, random() % 5};
    const auto given_up = retire(policy, stored);
    EXPECT_TRUE(std::is_sorted(given_up.begin(), given_up.end()));
    for (auto version : given_up) {
      EXPECT_TRUE(all_complete.empty() || version < *all_complete.rbegin());
      all_complete.erase(version);
      stored.erase(std::remove_if(stored.begin(), stored.end(), [&](auto& s) { return s.version == version; }),
                   stored.end());
    }
    const bool had = std::any_of(stored.begin(), stored.end(), [](auto& s) { return s.complete; });
    EXPECT_EQ(had, !all_complete.empty());
    EXPECT_THAT(retire(policy, stored), IsEmpty()) << "retirement must settle in one step";
  }
}

// Back to 5 and on from there: 9 and 10 are of the branch that was left.
TEST(Retention, NewerIsWhatWasBegunLaterNotTheHigherNumber) {
  EXPECT_THAT(retire({2, 0}, {{5, true, 5}, {9, true, 9}, {10, true, 10}, {6, true, 11}}), ElementsAre(5, 9));
  EXPECT_THAT(retire({2, 0}, {{9, true, 9}, {10, true, 10}, {6, true, 11}, {7, true, 12}}), ElementsAre(9, 10));
  EXPECT_THAT(retire({2, 0}, {{10, false, 10}, {6, true, 11}, {7, false, 12}}), ElementsAre(10));
  EXPECT_THAT(retire({1, 0}, {{6, true, 3}, {6, true, 11}, {10, true, 10}}), ElementsAre(10));
}

TEST(Retention, CopesWithTheLargestVersion) {
  EXPECT_THAT(retire({1, 1}, complete({0, UINT64_MAX})), IsEmpty());
  EXPECT_THAT(retire({UINT64_MAX, 0}, complete({0, UINT64_MAX})), IsEmpty());
}

}  // namespace
}  // namespace perdure::plan
