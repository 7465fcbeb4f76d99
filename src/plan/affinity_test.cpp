// Tests plans for threads and pages that come to another machine.
#include "plan/affinity.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace perdure::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Builds `threads` hardware threads in each core; those of one core are `stride` apart, as systems number them.
Machine machine(std::size_t nodes, std::size_t cores, std::size_t threads = 1) {
  Machine made;
  made.nodes.resize(nodes);
  const auto stride = static_cast<unsigned>(nodes * cores);
  for (std::size_t n = 0; n < nodes; ++n)
    for (std::size_t c = 0; c < cores; ++c) {
      Cpus core;
      for (std::size_t t = 0; t < threads; ++t)
        core.push_back(static_cast<unsigned>(n * cores + c) + static_cast<unsigned>(t) * stride);
      made.nodes[n].cores.push_back(core);
    }
  return made;
}

Cpus all_of(const Machine::Node& node) {
  Cpus all;
  for (const auto& core : node.cores) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the node that has all of these; none if several have some.
std::size_t node_of(const Machine& machine, const Cpus& cpus) {
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    const auto all = all_of(machine.nodes[n]);
    if (std::includes(all.begin(), all.end(), cpus.begin(), cpus.end())) return n;
  }
  return machine.nodes.size();
}

/// Puts four nodes into two packages: `near[n]` is the other one in the package of n.
void put_in_packages(Machine& machine, const std::vector<std::size_t>& near) {
  machine.distances.assign(4, std::vector<unsigned>(4, 32));
  for (std::size_t n = 0; n < 4; ++n) machine.distances[n][n] = 10, machine.distances[n][near[n]] = 12;
}

TEST(Affinity, OfTheSameMachineIsWhatItWas) {
  const Machine there = machine(2, 4, 2);
  const MachineUsage use{{{0}, {3, 11}, {4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}, {5, 7}};
  const auto plan = plan_affinity(there, use, there);
  EXPECT_EQ(plan.masks, use.masks);
  EXPECT_THAT(plan.nodes, ElementsAre(0, 1));
  EXPECT_THAT(plan.together, IsEmpty());
}

TEST(Affinity, OfAMachineThatCountsOtherwiseKeepsNodesAndCores) {
  const Machine then = machine(2, 2, 2);  // cores {0, 4}, {1, 5} and {2, 6}, {3, 7}
  Machine here;
  here.nodes = {{{{0, 1}, {4, 5}}, 0}, {{{2, 3}, {6, 7}}, 0}};
  const auto plan = plan_affinity(then, {{{0}, {4}, {5}, {3}, {2, 6}}, {1, 1}}, here);
  EXPECT_THAT(plan.masks, ElementsAre(Cpus{0}, Cpus{1}, Cpus{4}, Cpus{6}, Cpus{2, 3}));
  EXPECT_THAT(plan.nodes, ElementsAre(0, 1));
  EXPECT_THAT(plan.together, IsEmpty());
}

TEST(Affinity, OfAllOfTheMachineOrOfANodeStaysThat) {
  const Machine then = machine(2, 2), here = machine(2, 8);
  const auto plan = plan_affinity(then, {{{0, 1, 2, 3}, {2, 3}, {}, {1}}, {1, 1}}, here);
  Cpus all;
  for (unsigned cpu = 0; cpu < 16; ++cpu) all.push_back(cpu);
  EXPECT_EQ(plan.masks[0], all);
  EXPECT_EQ(plan.masks[1], all_of(here.nodes[1]));
  EXPECT_EQ(plan.masks[2], all) << "what was on none of its processors";
  EXPECT_EQ(plan.masks[3], Cpus{1});
  EXPECT_THAT(plan.together, IsEmpty());
}

TEST(Affinity, OfNearNodesIsOnNearNodes) {
  Machine then = machine(4, 2), here = machine(4, 2, 2);
  put_in_packages(then, {1, 0, 3, 2});
  put_in_packages(here, {2, 3, 0, 1});
  const auto plan = plan_affinity(then, {{{0}, {2}, {4}, {6}}, {1, 1, 1, 1}}, here);
  EXPECT_EQ(here.distances[plan.nodes[0]][plan.nodes[1]], 12U);
  EXPECT_EQ(here.distances[plan.nodes[2]][plan.nodes[3]], 12U);
  EXPECT_THAT(std::set(plan.nodes.begin(), plan.nodes.end()), testing::SizeIs(4));
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(node_of(here, plan.masks[n]), plan.nodes[n]);
}

TEST(Affinity, OfTooManyNodesPutsTheNearestTogetherAndSaysSo) {
  Machine then = machine(4, 2);
  put_in_packages(then, {2, 3, 0, 1});
  const Machine here = machine(2, 4);
  const auto plan = plan_affinity(then, {{{0}, {2}, {4}, {6}}, {1, 1, 1, 1}}, here);
  EXPECT_EQ(plan.nodes[0], plan.nodes[2]);
  EXPECT_EQ(plan.nodes[1], plan.nodes[3]);
  EXPECT_NE(plan.nodes[0], plan.nodes[1]);
  EXPECT_THAT(std::set(plan.masks.begin(), plan.masks.end()), testing::SizeIs(4)) << "each has a core of its own";
  EXPECT_THAT(plan.together, ElementsAre(HasSubstr("nodes 0, 2: all on node "), HasSubstr("nodes 1, 3: all on node ")));
}

TEST(Affinity, OfNodesThatNobodyUsedTakesNoPlace) {
  const Machine then = machine(8, 2), here = machine(2, 2);
  const auto plan = plan_affinity(then, {{{6}, {10, 11}}, {0, 0, 0, 9, 0, 9}}, here);
  EXPECT_NE(plan.nodes[3], plan.nodes[5]);
  EXPECT_EQ(node_of(here, plan.masks[0]), plan.nodes[3]);
  EXPECT_EQ(plan.masks[1], all_of(here.nodes[plan.nodes[5]]));
  EXPECT_THAT(plan.together, IsEmpty());
}

TEST(Affinity, OfTooManyCoresPutsNeighboursTogether) {
  const Machine then = machine(1, 8), here = machine(1, 4);
  const auto plan = plan_affinity(then, {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}, {1}}, here);
  EXPECT_THAT(plan.masks, ElementsAre(Cpus{0}, Cpus{0}, Cpus{1}, Cpus{1}, Cpus{2}, Cpus{2}, Cpus{3}, Cpus{3}));
  EXPECT_THAT(plan.together, ElementsAre("8 cores of node 0: on 4 cores of node 0",
                                         "4 hardware threads of node 0: on others' of node 0"));
}

TEST(Affinity, OfTooManyCoresTakesTheOtherHardwareThreadsFirst) {
  const auto plan = plan_affinity(machine(1, 4), {{{0}, {1}, {2}, {3}}, {1}}, machine(1, 2, 2));
  EXPECT_THAT(plan.masks, ElementsAre(Cpus{0}, Cpus{2}, Cpus{1}, Cpus{3}));
  EXPECT_THAT(plan.together, ElementsAre("4 cores of node 0: on 2 cores of node 0"));
}

TEST(Affinity, OfAllOfANodeNeedsNoPlaceForEachOfItsHardwareThreads) {
  const auto plan = plan_affinity(machine(2, 2, 2), {{{0}, {0, 1, 4, 5}, {2}}, {1, 1}}, machine(2, 2));
  EXPECT_THAT(plan.masks, ElementsAre(Cpus{0}, Cpus{0, 1}, Cpus{2}));
  EXPECT_THAT(plan.together, IsEmpty()) << "4 is of core 0, too, and nobody runs there alone";
}

TEST(Affinity, OfPagesHasRoomAndThreadsHaveProcessors) {
  Machine here = machine(3, 2);
  here.nodes[0].cores.clear();  // memory alone
  for (auto& node : here.nodes) node.bytes = 100;
  here.nodes[1].bytes = 10;
  Machine then = machine(3, 2);
  then.nodes[2].cores.clear();
  const auto plan = plan_affinity(then, {{{0}, {2}}, {60, 5, 70}}, here);
  EXPECT_THAT(plan.nodes, ElementsAre(2, 1, 0)) << "60 bytes have no room on node 1, and 70 need no processor";
  EXPECT_EQ(node_of(here, plan.masks[0]), 2U);
  EXPECT_EQ(node_of(here, plan.masks[1]), 1U);
}

Machine any_machine(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t end) { return random() % end; };
  Machine made;
  made.nodes.resize(1 + below(8));
  std::vector<unsigned> numbers;
  const std::uint64_t threads = 1 + below(2), cores = 1 + below(8);
  for (unsigned i = 0; i < made.nodes.size() * cores * threads; ++i) numbers.push_back(i);
  std::shuffle(numbers.begin(), numbers.end(), random);
  for (auto& node : made.nodes) {
    if (&node != &made.nodes[0] && below(6) == 0) continue;  // memory alone
    for (std::uint64_t c = 0; c < cores; ++c) {
      Cpus core;
      for (std::uint64_t t = 0; t < threads; ++t) core.push_back(numbers.back()), numbers.pop_back();
      std::sort(core.begin(), core.end());
      node.cores.push_back(core);
    }
  }
  if (below(2) == 0) {
    made.distances.assign(made.nodes.size(), std::vector<unsigned>(made.nodes.size(), 10));
    for (std::size_t i = 0; i < made.nodes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        made.distances[i][j] = made.distances[j][i] = 11 + static_cast<unsigned>(below(30));
  }
  return made;
}

// For any two machines: threads that were together stay together, and others stay apart if there is room, or are
// reported.
TEST(Affinity, OfAnyMachinesKeepsTogetherWhatWas) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const Machine then = any_machine(random), here = any_machine(random);
    MachineUsage use;
    std::vector<std::size_t> homes;  // of threads
    for (std::uint64_t t = random() % 12; t > 0; --t) {
      const std::size_t n = random() % then.nodes.size();
      if (then.nodes[n].cores.empty()) continue;
      const Cpus own = all_of(then.nodes[n]);
      use.masks.push_back({own[random() % own.size()]});
      homes.push_back(n);
    }
    for (std::size_t n = 0; n < then.nodes.size(); ++n) use.bytes.push_back(random() % 3);
    const auto plan = plan_affinity(then, use, here);
    ASSERT_EQ(plan.masks.size(), use.masks.size());
    ASSERT_EQ(plan.nodes.size(), then.nodes.size());
    std::size_t all = 0;
    for (const auto& node : then.nodes) all += all_of(node).size();
    const bool one = all == 1;  // its mask is all of the machine
    std::set<Cpus> before, after;
    std::set<std::size_t> used, targets;
    for (std::size_t t = 0; t < use.masks.size() && !one; ++t) {
      ASSERT_EQ(plan.masks[t].size(), 1U);
      EXPECT_EQ(node_of(here, plan.masks[t]), plan.nodes[homes[t]]) << "where its pages are";
      before.insert(use.masks[t]);
      after.insert(plan.masks[t]);
      used.insert(homes[t]);
    }
    if (!one)
      for (std::size_t n = 0; n < use.bytes.size(); ++n)
        if (use.bytes[n] > 0) used.insert(n);
    for (const auto n : used) targets.insert(plan.nodes[n]);
    EXPECT_TRUE(after.size() == before.size() || !plan.together.empty());
    EXPECT_TRUE(targets.size() == used.size() || !plan.together.empty());
    EXPECT_EQ(plan.masks, plan_affinity(then, use, here).masks) << "the same every time";
  }
}

}  // namespace
}  // namespace perdure::plan
