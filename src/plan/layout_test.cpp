#include "plan/layout.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace perdure::plan {
namespace {

using Per = Aggregation::Per;

TEST(Layout, UnderstandsNodeRankAndNumbers) {
  EXPECT_EQ(parse_aggregation("node")->per, Per::node);
  EXPECT_EQ(parse_aggregation("rank")->per, Per::rank);
  EXPECT_EQ(parse_aggregation("12")->number, 12u);
  for (const char* text : {"", "0", "-1", "nodes", "3x", "1.5", "99999999999", " 4"}) {
    auto refused = parse_aggregation(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  }
}

TEST(Layout, OneSegmentPerNodeHoldsItsRanksInOrder) {
  const auto plans = lay_out_segments({0, 1, 0, 1}, {Per::node, 0});
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0], (SegmentPlan{0, 2, 0, {0, 2}}));
  EXPECT_EQ(plans[1], (SegmentPlan{1, 2, 1, {1, 3}}));
}

TEST(Layout, OneSegmentPerRank) {
  const auto plans = lay_out_segments({0, 0, 1}, {Per::rank, 0});
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[2], (SegmentPlan{2, 3, 1, {2}}));
}

TEST(Layout, ANumberIsMetAsCloselyAsNodesAllow) {
  EXPECT_EQ(lay_out_segments({0, 0, 1, 1}, {Per::number, 1}).size(), 2u);  // never across nodes
  EXPECT_EQ(lay_out_segments({0, 0, 1, 1}, {Per::number, 4}).size(), 4u);
  EXPECT_EQ(lay_out_segments({0, 0, 1, 1}, {Per::number, 100}).size(), 4u);  // never an empty one
  EXPECT_EQ(lay_out_segments({0, 0, 0, 0}, {Per::number, 2}).size(), 2u);
}

TEST(Layout, OfNoRanksIsEmpty) { EXPECT_TRUE(lay_out_segments({}, {}).empty()); }

TEST(Layout, EveryRankIsInExactlyOneSegmentOfItsNodeOverRandomJobs) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> nodes(1 + random() % 20);
    for (auto& node : nodes) node = static_cast<std::uint32_t>(random() % 6);
    const Aggregation aggregation{static_cast<Per>(random() % 3), static_cast<std::uint32_t>(1 + random() % 30)};
    const auto plans = lay_out_segments(nodes, aggregation);
    std::multiset<std::uint32_t> seen;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      ASSERT_EQ(plans[i].index, i);
      ASSERT_EQ(plans[i].count, plans.size());
      ASSERT_FALSE(plans[i].ranks.empty());
      for (std::uint32_t rank : plans[i].ranks) ASSERT_EQ(nodes[rank], plans[i].node);
      seen.insert(plans[i].ranks.begin(), plans[i].ranks.end());
    }
    ASSERT_EQ(seen.size(), nodes.size());
    ASSERT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), nodes.size());
  }
}

}  // namespace
}  // namespace perdure::plan
