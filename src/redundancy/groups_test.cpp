#include "redundancy/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace perdure::redundancy {
namespace {

constexpr GroupLimits kXorLimits{"xor", 2, 64};

std::vector<Domains> unnamed(std::size_t nodes) { return std::vector<Domains>(nodes); }

/// Returns the full name of a node's domain at a level, as labels may repeat in other racks.
std::vector<std::string> full_name(const Domains& node, std::size_t level) {
  return {node.begin() + static_cast<std::ptrdiff_t>(level), node.end()};
}

unsigned most_together(const std::vector<std::uint32_t>& group, const std::vector<Domains>& nodes, std::size_t level) {
  std::map<std::vector<std::string>, unsigned> members;
  unsigned most = 0;
  for (const std::uint32_t node : group) most = std::max(most, ++members[full_name(nodes[node], level)]);
  return most;
}

void expect_partition(const GroupPlan& plan, std::size_t nodes) {
  std::set<std::uint32_t> all;
  std::size_t smallest = SIZE_MAX, largest = 0;
  for (const auto& group : plan.groups) {
    all.insert(group.begin(), group.end());
    smallest = std::min(smallest, group.size());
    largest = std::max(largest, group.size());
  }
  ASSERT_EQ(all.size(), nodes);
  ASSERT_EQ(*all.rbegin(), nodes - 1);
  std::size_t members = 0;
  for (const auto& group : plan.groups) members += group.size();
  ASSERT_EQ(members, nodes) << "a node in two groups";
  ASSERT_LE(largest - smallest, 1u);
}

/// Expects every group to have as few nodes of each domain as possible, at every level, and the plan to say how many.
void expect_spread(const GroupPlan& plan, const std::vector<Domains>& nodes) {
  ASSERT_EQ(plan.sharing.size(), nodes[0].size());
  for (std::size_t level = 0; level < plan.sharing.size(); ++level) {
    std::map<std::vector<std::string>, std::size_t> sizes;
    std::size_t largest = 0;
    for (const Domains& node : nodes) largest = std::max(largest, ++sizes[full_name(node, level)]);
    unsigned most = 0;
    std::uint64_t sharing = 0;
    for (const auto& group : plan.groups) {
      const unsigned together = most_together(group, nodes, level);
      most = std::max(most, together);
      sharing += together > 1 ? 1 : 0;
    }
    ASSERT_EQ(most, (largest + plan.groups.size() - 1) / plan.groups.size()) << "level " << level;
    ASSERT_EQ(plan.sharing[level].most, most);
    ASSERT_EQ(plan.sharing[level].groups, sharing);
  }
}

/// Expects no neighbours to share a domain of the outermost level that separates members, unless it has more than half
/// of them.
void expect_neighbours_apart(const GroupPlan& plan, const std::vector<Domains>& nodes) {
  for (const auto& group : plan.groups)
    for (std::size_t level = nodes[0].size(); level-- > 0;) {
      const unsigned most = most_together(group, nodes, level);
      if (most == group.size()) continue;
      for (std::size_t i = 0; 2 * most <= group.size() && i < group.size(); ++i)
        ASSERT_NE(full_name(nodes[group[i]], level), full_name(nodes[group[(i + 1) % group.size()]], level));
      break;
    }
}

std::vector<Domains> random_topology(std::size_t count, std::mt19937_64& random) {
  const auto racks = 1 + random() % 8, chassis = 1 + random() % 4, levels = random() % 4;
  std::vector<Domains> nodes(count);
  for (Domains& node : nodes) {
    const auto rack = random() % racks;
    if (levels > 0) node.push_back("chassis" + std::to_string(random() % chassis));
    if (levels > 1) node.push_back("rack" + std::to_string(rack));
    if (levels > 2) node.push_back("switch" + std::to_string(rack / 3));
  }
  return nodes;
}

TEST(Groups, EveryPromiseHoldsInRandomTopologies) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto nodes = random_topology(2 + random() % 60, random);
    const auto plan = plan_groups(nodes, 2 + static_cast<unsigned>(random() % 12), kXorLimits);
    ASSERT_TRUE(plan) << plan.error().text();
    expect_partition(*plan, nodes.size());
    expect_spread(*plan, nodes);
    expect_neighbours_apart(*plan, nodes);
  }
}

// Compares with every number of groups that keeps the limits.
TEST(Groups, SizesAreAsCloseToTheWantedOneAsCanBe) {
  for (const unsigned min_size : {2u, 3u, 5u})
    for (std::size_t nodes = min_size; nodes < 70; ++nodes)
      for (unsigned wanted = min_size; wanted <= 16; ++wanted) {
        const auto plan = plan_groups(unnamed(nodes), wanted, {"reed-solomon", min_size, 16});
        std::size_t best = SIZE_MAX;
        const auto deviation = [&](std::size_t groups) {
          const auto off = [&](std::size_t size) { return size > wanted ? size - wanted : wanted - size; };
          return std::max(off(nodes / groups), off((nodes + groups - 1) / groups));
        };
        for (std::size_t groups = 1; groups <= nodes; ++groups)
          if (nodes / groups >= min_size && (nodes + groups - 1) / groups <= 16)
            best = std::min(best, deviation(groups));
        ASSERT_EQ(plan.has_value(), best != SIZE_MAX) << nodes << " " << wanted;
        if (!plan) continue;
        expect_partition(*plan, nodes);
        ASSERT_EQ(deviation(plan->groups.size()), best) << nodes << " nodes in groups of " << wanted;
      }
}

TEST(Groups, OfTwoSizesAsCloseTheLargerIsTaken) {
  const auto plan = plan_groups(unnamed(10), 4, kXorLimits).value();
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[0], (std::vector<std::uint32_t>{0, 2, 4, 6, 8}));
}

TEST(Groups, OneRackPerMemberWhereThereAreEnoughAndItIsSaidWhereThereAreNot) {
  std::vector<Domains> nodes;
  for (int i = 0; i < 16; ++i) nodes.push_back({"chassis" + std::to_string(i % 4 / 2), "rack" + std::to_string(i / 4)});
  const auto spread = plan_groups(nodes, 4, kXorLimits).value();
  EXPECT_EQ(spread.sharing[1].most, 1u);
  EXPECT_EQ(spread.sharing[1].groups, 0u);
  const auto crowded = plan_groups(nodes, 8, kXorLimits).value();
  EXPECT_EQ(crowded.sharing[1].most, 2u) << "8 members in 4 racks";
  EXPECT_EQ(crowded.sharing[1].groups, 2u);
  EXPECT_EQ(crowded.sharing[0].most, 1u) << "but in chassis of their own";
}

TEST(Groups, DoNotDependOnAnythingButTheTopology) {
  std::mt19937_64 random(2);
  const auto nodes = random_topology(50, random);
  EXPECT_EQ(plan_groups(nodes, 8, kXorLimits)->groups, plan_groups(nodes, 8, kXorLimits)->groups);
}

TEST(Groups, OfAVeryLargeJobKeepTheirPromises) {
  std::vector<Domains> nodes;
  for (int i = 0; i < 16384; ++i)
    nodes.push_back({"c" + std::to_string(i % 8), "r" + std::to_string(i / 64), "s" + std::to_string(i / 1024)});
  const auto plan = plan_groups(nodes, 12, kXorLimits).value();
  expect_partition(plan, nodes.size());
  expect_spread(plan, nodes);
  EXPECT_EQ(plan.sharing[2].most, 1u) << "16 switches";
}

TEST(Groups, RefusalsSayWhatWhyAndWhatToDo) {
  const auto one = plan_groups(unnamed(1), 4, kXorLimits);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(one.error().text(), testing::HasSubstr("runs on 1 node, and a group needs at least 2"));
  EXPECT_THAT(one.error().remedy, testing::HasSubstr("single"));
  EXPECT_FALSE(plan_groups(unnamed(2), 4, {"reed-solomon", 3, 64})) << "m + 1 nodes are needed";
  EXPECT_FALSE(plan_groups({}, 4, kXorLimits));
  for (const unsigned size : {0u, 1u, 65u}) {
    const auto plan = plan_groups(unnamed(100), size, kXorLimits);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_THAT(plan.error().text(), testing::HasSubstr("2 to 64"));
  }
  auto uneven = unnamed(4);
  uneven[2] = {"rack7"};
  EXPECT_THAT(plan_groups(uneven, 4, kXorLimits).error().text(), testing::HasSubstr("node 2: is in 1 named"));
  EXPECT_THAT(plan_groups(unnamed(5), 3, {"strict", 3, 3}).error().text(),
              testing::HasSubstr("5 nodes cannot be divided into groups of 3 to 3"));
}

}  // namespace
}  // namespace perdure::redundancy
