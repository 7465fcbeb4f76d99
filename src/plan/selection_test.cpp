#include "plan/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace perdure::plan {
namespace {

using Lists = std::vector<std::vector<Candidate>>;

TEST(Selection, TakesTheNewestThatEveryRankHas) {
  const Lists lists{{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, {{1, 1, 1}, {2, 2, 2}}, {{3, 3, 3}, {2, 2, 2}, {1, 1, 1}}};
  EXPECT_EQ(newest_common(lists), (Candidate{2, 2, 2}));
}

TEST(Selection, FindsNothingWhenOneRankHasNothing) {
  EXPECT_EQ(newest_common({{{1, 1, 1}}, {}}), std::nullopt);
  EXPECT_EQ(newest_common({}), std::nullopt);
}

TEST(Selection, NeverMixesTwoAttemptsAtOneVersion) {
  EXPECT_EQ(newest_common({{{5, 1, 7}}, {{5, 1, 8}}}), std::nullopt);
  EXPECT_EQ(newest_common({{{5, 1, 7}, {4, 1, 1}}, {{5, 2, 7}, {4, 1, 1}}}), (Candidate{4, 1, 1}));
}

TEST(Selection, OfTwoAttemptsThatAllHaveTheLaterOneIsTaken) {
  const std::vector<Candidate> both{{5, 1, 9}, {5, 2, 1}};
  EXPECT_EQ(newest_common({both, both}), (Candidate{5, 2, 1}));
}

TEST(AttemptTime, IsTheClocksWhileItGoesForwardAndAlwaysLaterThanWhatIsKnown) {
  EXPECT_EQ(attempt_time(1000, 0), 1000u);
  EXPECT_EQ(attempt_time(1000, 999), 1000u);
  EXPECT_EQ(attempt_time(1000, 1000), 1001u);
  EXPECT_EQ(attempt_time(1000, 5000), 5001u);
  EXPECT_EQ(attempt_time(0, 0), 1u);
  EXPECT_EQ(attempt_time(1000, ~0ULL), ~0ULL) << "not 0";
}

TEST(Selection, AgreesWithTheNaiveSearchOverRandomLists) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    Lists lists(1 + random() % 5);
    for (auto& list : lists)
      for (std::uint64_t i = random() % 12; i > 0; --i) list.push_back({random() % 4, random() % 2, random() % 2});
    std::optional<Candidate> expected;
    for (const auto& candidate : lists[0]) {
      const bool common = std::all_of(lists.begin(), lists.end(), [&](const auto& list) {
        return std::find(list.begin(), list.end(), candidate) != list.end();
      });
      if (common && (!expected || *expected < candidate)) expected = candidate;
    }
    ASSERT_EQ(newest_common(lists), expected) << round;
  }
}

}  // namespace
}  // namespace perdure::plan
