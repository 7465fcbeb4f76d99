// Moves processes between every pair of machines as vendors build them. The machines are composed by hand from public
// descriptions: numbers of sockets, cores and hardware threads, and the firmware's distance tables in manuals and
// articles. None was recorded. They have fewer cores than in reality if more of the same would only cost time.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "plan/affinity.hpp"

namespace perdure::plan {
namespace {

constexpr std::uint64_t kGiB = 1ULL << 30;
using Distance = std::function<unsigned(std::size_t, std::size_t)>;

struct NamedMachine {
  const char* name;
  Machine machine;
};

/// Builds nodes with so many cores each. Hardware threads of a core are numbered one pass after the other, as Linux
/// does on x86. Nodes from `with_cores` on have memory alone.
Machine built(std::size_t nodes, std::size_t with_cores, std::size_t cores, std::size_t threads,
              const Distance& distance) {
  Machine made;
  made.nodes.resize(nodes);
  const auto stride = static_cast<unsigned>(with_cores * cores);
  for (std::size_t n = 0; n < nodes; ++n) {
    made.nodes[n].bytes = (n < with_cores ? 64 : 16) * kGiB;
    for (std::size_t c = 0; c < cores && n < with_cores; ++c) {
      Cpus core;
      for (std::size_t t = 0; t < threads; ++t)
        core.push_back(static_cast<unsigned>(n * cores + c) + static_cast<unsigned>(t) * stride);
      made.nodes[n].cores.push_back(core);
    }
    made.distances.emplace_back();
    for (std::size_t other = 0; other < nodes; ++other)
      made.distances[n].push_back(n == other ? 10 : distance(n, other));
  }
  return made;
}

/// Puts so many nodes into a group: a divided socket.
Distance in_groups(std::size_t size, unsigned near, unsigned far) {
  return [=](std::size_t a, std::size_t b) { return a / size == b / size ? near : far; };
}

const std::vector<NamedMachine>& machines() {
  static const std::vector<NamedMachine> all = [] {
    std::vector<NamedMachine> list;
    const auto add = [&](const char* name, Machine machine) { list.push_back({name, std::move(machine)}); };
    add("one socket, two threads a core", built(1, 1, 8, 2, in_groups(1, 10, 10)));
    add("one socket without SMT (Graviton 3)", built(1, 1, 16, 1, in_groups(1, 10, 10)));
    add("two sockets (Xeon)", built(2, 2, 10, 2, in_groups(1, 10, 21)));
    add("two sockets, SMT off", built(2, 2, 10, 1, in_groups(1, 10, 21)));
    add("two sockets, SNC-2 (Xeon)", built(4, 4, 6, 2, in_groups(2, 11, 21)));
    add("two sockets, SNC-4 (Xeon Max)", built(8, 8, 4, 2, in_groups(4, 12, 21)));
    add("one socket, NPS4 (EPYC)", built(4, 4, 4, 2, in_groups(4, 12, 32)));
    add("two sockets, NPS4 (EPYC)", built(8, 8, 4, 2, in_groups(4, 12, 32)));
    add("two sockets of two dies (Kunpeng 920)", built(4, 4, 8, 1, [](std::size_t a, std::size_t b) {
          return a / 2 == b / 2 ? 12U : a % 2 + b % 2 == 0 ? 20U : a % 2 + b % 2 == 1 ? 22U : 24U;
        }));
    add("four sockets (Xeon)", built(4, 4, 6, 2, in_groups(1, 10, 21)));
    add("four sockets in a ring (Opteron)", built(4, 4, 4, 1, [](std::size_t a, std::size_t b) {
          return (a + 2) % 4 == b ? 22U : 16U;  // across, or beside each other
        }));
    // Each has three links: to those whose numbers differ in one bit.
    add("eight sockets (Xeon)", built(8, 8, 4, 2, [](std::size_t a, std::size_t b) {
          const std::size_t differ = a ^ b;
          return (differ & (differ - 1)) == 0 ? 21U : 31U;
        }));
    // The memory that belongs to a node with cores is half of the list further.
    add("two sockets, memory expanded (Optane, CXL)", built(4, 2, 10, 2, [](std::size_t a, std::size_t b) {
          return a < 2 && b < 2 ? 21U : a % 2 == b % 2 ? 17U : 28U;
        }));
    add("SNC-4, flat (Knights Landing)", built(8, 4, 4, 4, [](std::size_t a, std::size_t b) {
          return a < 4 && b < 4 ? 21U : a % 4 == b % 4 ? 31U : 41U;
        }));
    add("two sockets with memory of GPUs (POWER9)",
        built(6, 2, 4, 4, [](std::size_t a, std::size_t b) { return a < 2 && b < 2 ? 40U : 80U; }));
    return list;
  }();
  return all;
}

struct CoreNumber {
  std::size_t node = 0, core = 0;
  friend auto operator<=>(const CoreNumber&, const CoreNumber&) = default;
};
CoreNumber core_of(const Machine& machine, unsigned cpu) {
  for (std::size_t n = 0; n < machine.nodes.size(); ++n)
    for (std::size_t c = 0; c < machine.nodes[n].cores.size(); ++c) {
      const auto& core = machine.nodes[n].cores[c];
      if (std::find(core.begin(), core.end(), cpu) != core.end()) return {n, c};
    }
  return {machine.nodes.size(), 0};
}

/// A tuned program: a thread on each hardware thread of two cores of each node, pages on every node.
struct Tuned {
  MachineUsage use;
  std::vector<CoreNumber> homes;  ///< of each thread
};
Tuned tuned(const Machine& machine) {
  Tuned program;
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    program.use.bytes.push_back(kGiB);
    for (std::size_t c = 0; c < std::min<std::size_t>(2, machine.nodes[n].cores.size()); ++c)
      for (const unsigned cpu : machine.nodes[n].cores[c]) {
        program.use.masks.push_back({cpu});
        program.homes.push_back({n, c});
      }
  }
  return program;
}

using CheckPair =
    std::function<void(const Machine& then, const Tuned& program, const Machine& here, const AffinityPlan&)>;
void each_pair(const CheckPair& check) {
  for (const auto& then : machines())
    for (const auto& here : machines()) {
      SCOPED_TRACE(std::string(then.name) + ", then " + here.name);
      const Tuned program = tuned(then.machine);
      check(then.machine, program, here.machine, plan_affinity(then.machine, program.use, here.machine));
    }
}

TEST(AffinityOfRealMachines, OnTheSameOneIsWhatItWas) {
  for (const auto& one : machines()) {
    const Tuned program = tuned(one.machine);
    const auto plan = plan_affinity(one.machine, program.use, one.machine);
    EXPECT_EQ(plan.masks, program.use.masks) << one.name;
    for (std::size_t n = 0; n < plan.nodes.size(); ++n) EXPECT_EQ(plan.nodes[n], n) << one.name;
    EXPECT_THAT(plan.together, testing::IsEmpty()) << one.name;
  }
}

TEST(AffinityOfRealMachines, KeepsThreadsBesideTheirPages) {
  each_pair([](const Machine&, const Tuned& program, const Machine& here, const AffinityPlan& plan) {
    for (std::size_t t = 0; t < program.homes.size(); ++t) {
      ASSERT_EQ(plan.masks[t].size(), 1U);
      EXPECT_EQ(core_of(here, plan.masks[t][0]).node, plan.nodes[program.homes[t].node]) << "thread " << t;
    }
  });
}

TEST(AffinityOfRealMachines, KeepsHardwareThreadsOfACoreOnACore) {
  each_pair([](const Machine&, const Tuned& program, const Machine& here, const AffinityPlan& plan) {
    std::map<CoreNumber, std::set<CoreNumber>> targets;
    for (std::size_t t = 0; t < program.homes.size(); ++t)
      targets[program.homes[t]].insert(core_of(here, plan.masks[t][0]));
    for (const auto& [core, cores] : targets) EXPECT_EQ(cores.size(), 1U) << "node " << core.node;
  });
}

TEST(AffinityOfRealMachines, KeepsApartWhatWasWhereThereIsRoomAndElseSaysSo) {
  each_pair([](const Machine& then, const Tuned& program, const Machine& here, const AffinityPlan& plan) {
    const auto with_cores = [](const Machine& machine) {
      return static_cast<std::size_t>(std::count_if(machine.nodes.begin(), machine.nodes.end(),
                                                    [](const auto& node) { return !node.cores.empty(); }));
    };
    const std::set<std::size_t> nodes(plan.nodes.begin(), plan.nodes.end());
    if (with_cores(then) <= with_cores(here) && then.nodes.size() <= here.nodes.size()) {
      EXPECT_EQ(nodes.size(), then.nodes.size());
    }
    std::size_t said = 0;  // nodes that are reported as folded
    for (const auto& text : plan.together)
      if (text.find(": all on node ") != std::string::npos)
        said += static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    EXPECT_EQ(said, then.nodes.size() - nodes.size());
    const std::set<Cpus> before(program.use.masks.begin(), program.use.masks.end());
    const std::set<Cpus> after(plan.masks.begin(), plan.masks.end());
    EXPECT_TRUE(before.size() == after.size() || !plan.together.empty());
  });
}

TEST(AffinityOfRealMachines, PutsNoThreadWhereThereIsNoProcessorAndNoMorePagesThanThereIsRoom) {
  each_pair([](const Machine&, const Tuned& program, const Machine& here, const AffinityPlan& plan) {
    for (const auto& mask : plan.masks) EXPECT_LT(core_of(here, mask.at(0)).node, here.nodes.size());
    std::vector<std::uint64_t> bytes(here.nodes.size());
    for (std::size_t n = 0; n < plan.nodes.size(); ++n) bytes[plan.nodes[n]] += program.use.bytes[n];
    for (std::size_t m = 0; m < here.nodes.size(); ++m) EXPECT_LE(bytes[m], here.nodes[m].bytes);
  });
}

/// Counts pairs of nearest nodes that are no nearest nodes any more.
std::size_t near_pairs_lost(const Machine& then, const Machine& here, const AffinityPlan& plan) {
  const auto nearest = [](const Machine& machine) {
    unsigned least = ~0U;
    for (std::size_t i = 0; i < machine.nodes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) least = std::min(least, machine.distances[i][j]);
    return least;
  };
  std::size_t lost = 0;
  for (std::size_t i = 0; i < then.nodes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (then.distances[i][j] == nearest(then) && plan.nodes[i] != plan.nodes[j] &&
          here.distances[plan.nodes[i]][plan.nodes[j]] > nearest(here))
        ++lost;
  return lost;
}

const Machine& named(const std::string& name) {
  for (const auto& one : machines())
    if (name == one.name) return one.machine;
  throw std::out_of_range(name);
}

TEST(AffinityOfRealMachines, KeepsDividedSocketsTogether) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"two sockets, SNC-2 (Xeon)", "two sockets of two dies (Kunpeng 920)"},
      {"two sockets, SNC-2 (Xeon)", "two sockets, NPS4 (EPYC)"},
      {"two sockets, SNC-2 (Xeon)", "two sockets, SNC-4 (Xeon Max)"},
      {"two sockets of two dies (Kunpeng 920)", "two sockets, SNC-2 (Xeon)"},
      {"two sockets of two dies (Kunpeng 920)", "two sockets, NPS4 (EPYC)"},
      {"two sockets, NPS4 (EPYC)", "two sockets, SNC-4 (Xeon Max)"},
      {"two sockets, NPS4 (EPYC)", "two sockets, SNC-2 (Xeon)"},
      {"two sockets, NPS4 (EPYC)", "two sockets (Xeon)"},
      {"two sockets, SNC-4 (Xeon Max)", "two sockets of two dies (Kunpeng 920)"}};
  for (const auto& [then, here] : pairs) {
    SCOPED_TRACE(then + ", then " + here);
    const auto plan = plan_affinity(named(then), tuned(named(then)).use, named(here));
    EXPECT_EQ(near_pairs_lost(named(then), named(here), plan), 0U) << testing::PrintToString(plan.nodes);
  }
}

// Firmware numbers nodes arbitrarily: near nodes stay near, whatever their numbers.
TEST(AffinityOfRealMachines, FindsTheSameMachineWithOtherNumbers) {
  for (const auto& one : machines()) {
    SCOPED_TRACE(one.name);
    const std::size_t count = one.machine.nodes.size();
    Machine here;
    std::vector<std::size_t> order(count);
    for (std::size_t n = 0; n < count; ++n) order[n] = (n * 3 + 1) % count;
    if (std::set<std::size_t>(order.begin(), order.end()).size() != count) std::reverse(order.begin(), order.end());
    if (std::set<std::size_t>(order.begin(), order.end()).size() != count)
      for (std::size_t n = 0; n < count; ++n) order[n] = count - 1 - n;
    for (const auto from : order) {
      here.nodes.push_back(one.machine.nodes[from]);
      here.distances.emplace_back();
      for (const auto other : order) here.distances.back().push_back(one.machine.distances[from][other]);
    }
    const auto plan = plan_affinity(one.machine, tuned(one.machine).use, here);
    EXPECT_EQ(near_pairs_lost(one.machine, here, plan), 0U) << testing::PrintToString(plan.nodes);
    EXPECT_EQ(std::set<std::size_t>(plan.nodes.begin(), plan.nodes.end()).size(), count);
  }
}

}  // namespace
}  // namespace perdure::plan
