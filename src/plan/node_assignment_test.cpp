#include "plan/node_assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace perdure::plan {
namespace {

using Names = std::vector<std::string>;

// Returns the nodes "0", "1", ... whose bits are set.
Names chosen(unsigned bits, unsigned count) {
  Names nodes;
  for (unsigned i = 0; i < count; ++i)
    if ((bits >> i & 1U) != 0) nodes.push_back(std::to_string(i));
  return nodes;
}
Names numbered(unsigned count) { return chosen(~0U, count); }
bool contains(const Names& nodes, const std::string& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

TEST(FirstAssignment, TakesTheFirstThatAreNotExcluded) {
  const auto all = first_assignment({"a", "b", "c", "d"}, 2, {}, false);
  EXPECT_TRUE(all.possible);
  EXPECT_EQ(all.next, (NodeAssignment{{"a", "b"}, {"c", "d"}, {}}));
  const auto without = first_assignment({"a", "b", "c", "d"}, 2, {"x", "a"}, false);
  EXPECT_TRUE(without.possible);
  EXPECT_EQ(without.next, (NodeAssignment{{"b", "c"}, {"d"}, {"a"}}));
}

TEST(FirstAssignment, OfEveryExclusionIsPossibleWhenEnoughAreLeftOrOneThatMayShrink) {
  constexpr unsigned kNodes = 5;
  for (unsigned count = 1; count <= kNodes + 1; ++count)
    for (unsigned bits = 0; bits < 1U << kNodes; ++bits) {
      const Names excluded = chosen(bits, kNodes);
      const std::size_t left = kNodes - excluded.size();
      const auto strict = first_assignment(numbered(kNodes), count, excluded, false);
      const auto loose = first_assignment(numbered(kNodes), count, excluded, true);
      EXPECT_EQ(strict.possible, left >= count) << bits << " " << count;
      EXPECT_EQ(loose.possible, left >= 1) << bits << " " << count;
      EXPECT_EQ(strict.next, loose.next);
      EXPECT_EQ(strict.next.positions.size(), std::min<std::size_t>(left, count));
      EXPECT_EQ(strict.next.excluded, excluded);
      Names in_order = strict.next.positions;
      in_order.insert(in_order.end(), strict.next.spares.begin(), strict.next.spares.end());
      EXPECT_EQ(in_order, chosen(~bits, kNodes));
    }
}

TEST(ReplaceFailed, GivesTheFirstSpareThePositionAndLeavesTheOthers) {
  const NodeAssignment now{{"0", "1", "2", "3"}, {"4", "5"}, {"9"}};
  const auto decision = replace_failed(now, {"2"}, false);
  EXPECT_TRUE(decision.possible);
  EXPECT_EQ(decision.next, (NodeAssignment{{"0", "1", "4", "3"}, {"5"}, {"9", "2"}}));
  EXPECT_EQ(decision.replaced, (std::vector<NodeReplacement>{{2, "2", "4"}}));
}

TEST(ReplaceFailed, ChangesNothingWhenNothingFailed) {
  const NodeAssignment now{{"b", "a"}, {"c"}, {"x"}};
  for (const Names& failed : {Names{}, Names{"x"}, Names{"unknown"}}) {
    const auto decision = replace_failed(now, failed, false);
    EXPECT_TRUE(decision.possible);
    EXPECT_EQ(decision.next, now);
    EXPECT_TRUE(decision.replaced.empty());
  }
}

TEST(ReplaceFailed, ShrinksOnlyWhenItMay) {
  const NodeAssignment now{{"0", "1", "2"}, {"3"}, {}};
  const auto strict = replace_failed(now, {"0", "2"}, false);
  EXPECT_FALSE(strict.possible);
  EXPECT_EQ(strict.replaced, (std::vector<NodeReplacement>{{0, "0", "3"}, {2, "2", ""}}));
  const auto loose = replace_failed(now, {"0", "2"}, true);
  EXPECT_TRUE(loose.possible);
  EXPECT_EQ(loose.next, (NodeAssignment{{"3", "1"}, {}, {"0", "2"}}));
  EXPECT_FALSE(replace_failed(now, numbered(4), true).possible) << "nobody is left";
}

// Checks invariants for every set of failures among 4 nodes and up to 3 spares.
void check_failures(unsigned spares, unsigned bits, bool shrink) {
  constexpr unsigned kPositions = 4;
  const unsigned nodes = kPositions + spares;
  const Names failed = chosen(bits, nodes), good = chosen(~bits, nodes);
  NodeAssignment now{numbered(kPositions), {}, {}};
  for (unsigned i = kPositions; i < nodes; ++i) now.spares.push_back(std::to_string(i));
  const auto [possible, next, replaced] = replace_failed(now, failed, shrink);
  EXPECT_EQ(possible, good.size() >= kPositions || (shrink && !good.empty()));
  EXPECT_EQ(next.positions.size(), std::min<std::size_t>(kPositions, good.size()));
  for (unsigned i = 0; i < kPositions && next.positions.size() == kPositions; ++i)
    EXPECT_EQ(next.positions[i] == now.positions[i], !contains(failed, now.positions[i]));
  std::multiset<std::string> kept(next.positions.begin(), next.positions.end());
  kept.insert(next.spares.begin(), next.spares.end());
  EXPECT_EQ(kept, std::multiset<std::string>(good.begin(), good.end()));
  EXPECT_EQ(std::set<std::string>(next.excluded.begin(), next.excluded.end()),
            std::set<std::string>(failed.begin(), failed.end()));
  EXPECT_EQ(replaced.size(), chosen(bits, kPositions).size());
}

TEST(ReplaceFailed, KeepsEveryGoodNodeInItsPlaceWhateverFails) {
  for (unsigned spares = 0; spares <= 3; ++spares)
    for (unsigned bits = 0; bits < 1U << (4 + spares); ++bits)
      for (const bool shrink : {false, true}) {
        SCOPED_TRACE(std::to_string(spares) + " spares, failed " + std::to_string(bits) + (shrink ? ", shrink" : ""));
        check_failures(spares, bits, shrink);
      }
}

TEST(ShareOfNode, HasRoomForAll) {
  EXPECT_EQ(share_of_node(8, 4), 2U);
  EXPECT_EQ(share_of_node(8, 3), 3U);
  EXPECT_EQ(share_of_node(8, 1), 8U);
  EXPECT_EQ(share_of_node(1, 4), 1U);
  for (std::uint64_t total = 0; total < 40; ++total)
    for (std::uint64_t nodes = 1; nodes < 12; ++nodes) {
      EXPECT_GE(share_of_node(total, nodes) * nodes, total);
      EXPECT_LT(share_of_node(total, nodes) * nodes, total + nodes);
    }
}

}  // namespace
}  // namespace perdure::plan
