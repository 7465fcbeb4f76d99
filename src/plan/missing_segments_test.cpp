#include "plan/missing_segments.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace perdure::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr Aggregation kOnePerNode{Aggregation::Per::node, 0};

TEST(MissingSegments, WithoutAnyKnownOneItIsTheLayoutOfThisLaunch) {
  const std::vector<std::uint32_t> nodes = {1, 0, 1};
  EXPECT_EQ(lay_out_missing({}, nodes, kOnePerNode), lay_out_segments(nodes, kOnePerNode));
}

TEST(MissingSegments, ASpareWritesTheLostNodesOne) {
  EXPECT_THAT(lay_out_missing({{0, 3, {0, 1}}, {2, 3, {4, 5}}}, {0, 0, 7, 7, 2, 2}, kOnePerNode),
              Optional(ElementsAre(SegmentPlan{1, 3, 7, {2, 3}})));
}

TEST(MissingSegments, WhatIsKnownTwiceIsOne) {
  EXPECT_THAT(lay_out_missing({{0, 2, {0}}, {0, 2, {0}}, {1, 2, {1}}}, {0, 1}, kOnePerNode), Optional(IsEmpty()));
}

TEST(MissingSegments, WhereRanksRunNowDoesNotMatterForWhatOthersStillWrite) {
  EXPECT_THAT(lay_out_missing({{0, 3, {0}}, {1, 3, {1}}}, {2, 0, 1}, kOnePerNode),
              Optional(ElementsAre(SegmentPlan{2, 3, 1, {2}})));
}

// One segment has three ranks, which run on two nodes now: the node with two of them gets the third.
TEST(MissingSegments, ALostNodesSegmentIsOneAgainWhereItsRanksWereSeparated) {
  EXPECT_THAT(lay_out_missing({{1, 2, {3}}}, {4, 5, 5, 1}, kOnePerNode),
              Optional(ElementsAre(SegmentPlan{0, 2, 5, {0, 1, 2}})));
}

TEST(MissingSegments, TwoLostOnesStayTwoWhereTheirRanksRunTogether) {
  EXPECT_THAT(lay_out_missing({{1, 3, {2, 3}}}, {9, 9, 1, 1, 9, 9}, kOnePerNode),
              Optional(ElementsAre(SegmentPlan{0, 3, 9, {0, 1}}, SegmentPlan{2, 3, 9, {4, 5}})));
}

TEST(MissingSegments, BesideAStoreThatWasNotReadOnlyOneCanBeTold) {
  const std::vector<std::uint32_t> nodes = {0, 1, 2};
  EXPECT_THAT(lay_out_missing({{0, 3, {0}}, {2, 3, {2}}}, nodes, kOnePerNode, true),
              Optional(ElementsAre(SegmentPlan{1, 3, 1, {1}})));
  EXPECT_EQ(lay_out_missing({{0, 3, {0}}}, nodes, kOnePerNode, true), std::nullopt);
  EXPECT_EQ(lay_out_missing({}, nodes, kOnePerNode, true), std::nullopt);
  EXPECT_THAT(lay_out_missing({}, {0, 0}, kOnePerNode, true), Optional(ElementsAre(SegmentPlan{0, 1, 0, {0, 1}})));
}

TEST(MissingSegments, ContradictionsAreNotGuessedAt) {
  const std::vector<std::uint32_t> nodes = {0, 1, 2};
  EXPECT_EQ(lay_out_missing({{0, 2, {0}}, {1, 3, {1}}}, nodes, kOnePerNode), std::nullopt) << "counts differ";
  EXPECT_EQ(lay_out_missing({{0, 2, {0}}, {1, 2, {0, 1}}}, nodes, kOnePerNode), std::nullopt) << "a rank in two";
  EXPECT_EQ(lay_out_missing({{0, 2, {0}}, {0, 2, {1}}}, nodes, kOnePerNode), std::nullopt) << "two are the same one";
  EXPECT_EQ(lay_out_missing({{0, 1, {0, 1}}}, nodes, kOnePerNode), std::nullopt) << "a rank is in none of them";
  EXPECT_EQ(lay_out_missing({{0, 2, {0, 1, 2}}}, nodes, kOnePerNode), std::nullopt) << "one would be empty";
  EXPECT_EQ(lay_out_missing({{2, 2, {0}}}, nodes, kOnePerNode), std::nullopt) << "there is no such index";
  EXPECT_EQ(lay_out_missing({{0, 4000000000U, {0}}}, nodes, kOnePerNode), std::nullopt) << "more than ranks";
  EXPECT_EQ(lay_out_missing({{0, 2, {0, 1, 9}}}, nodes, kOnePerNode), std::nullopt) << "there is no such rank";
}

// For any losses of any layout, and any nodes of the ranks then, the whole is a layout.
TEST(MissingSegments, TogetherWithTheKnownOnesEveryRankIsInOneSegment) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
    std::vector<std::uint32_t> before(1 + below(9)), now(before.size());
    for (auto& node : before) node = below(4);
    for (auto& node : now) node = below(5);
    const Aggregation aggregation{static_cast<Aggregation::Per>(below(3)), 1 + below(5)};
    std::vector<SegmentPart> known;
    std::set<std::uint32_t> indices, ranks;
    const auto add = [&](std::uint32_t index, const std::vector<std::uint32_t>& of) {
      EXPECT_TRUE(indices.insert(index).second) << "seed " << seed;
      for (const std::uint32_t rank : of) EXPECT_TRUE(ranks.insert(rank).second) << "seed " << seed;
    };
    for (const auto& plan : lay_out_segments(before, aggregation))
      if (below(2) == 0) {
        known.push_back({plan.index, plan.count, plan.ranks});
        add(plan.index, plan.ranks);
      }
    const auto missing = lay_out_missing(known, now, aggregation);
    ASSERT_TRUE(missing) << "seed " << seed;
    for (const auto& plan : *missing) {
      add(plan.index, plan.ranks);
      EXPECT_LT(plan.index, plan.count);
      EXPECT_TRUE(std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](auto rank) { return now[rank] == plan.node; }))
          << "seed " << seed;
    }
    const std::uint32_t count = missing->empty() ? known.front().count : missing->front().count;
    EXPECT_EQ(indices.size(), count) << "seed " << seed;
    EXPECT_EQ(ranks.size(), now.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace perdure::plan
