#include "plan/affinity.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

namespace perdure::plan {
namespace {

constexpr unsigned kNear = 10, kFar = 20;  // distances if the machine does not say them

Cpus cpus_of(const Machine::Node& node) {
  Cpus all;
  for (const auto& core : node.cores) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  return all;
}

Cpus cpus_of(const Machine& machine) {
  Cpus all;
  for (const auto& node : machine.nodes) {
    const auto more = cpus_of(node);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

Cpus common(const Cpus& a, const Cpus& b) {
  Cpus both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

std::uint64_t distance(const Machine& machine, std::size_t from, std::size_t to) {
  if (from < machine.distances.size() && to < machine.distances[from].size()) return machine.distances[from][to];
  return from == to ? kNear : kFar;
}

bool same_cores(const Machine& a, const Machine& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const auto& one, const auto& other) { return one.cores == other.cores; });
}

/// The part of a node that was used.
struct NodeUsage {
  std::vector<std::size_t> cores;  ///< in masks of parts of the node
  std::uint64_t anywhere = 0;      ///< threads whose mask has all of the node
  std::uint64_t bytes = 0;
  std::uint64_t all_cores = 0;
  bool runs() const { return anywhere > 0 || !cores.empty(); }
  bool any() const { return runs() || bytes > 0; }
  std::uint64_t needs() const { return std::min(all_cores, cores.size() + anywhere); }
};

/// A core of the old machine that masks use.
struct CoreInNode {
  const Machine::Node* node = nullptr;
  std::size_t core = 0;  ///< in the node
};

class Planner {
 public:
  Planner(const Machine& then, const MachineUsage& use, const Machine& here)
      : then_(then), here_(here), all_then_(cpus_of(then)), all_here_(cpus_of(here)) {
    for (const auto& mask : use.masks) masks_.push_back(common(mask, all_then_));
    for (std::size_t n = 0; n < then.nodes.size(); ++n)
      uses_.push_back(use_of(then.nodes[n], n < use.bytes.size() ? use.bytes[n] : 0));
  }

  AffinityPlan plan() {
    AffinityPlan plan;
    choose_nodes();
    for (std::size_t m = 0; m < here_.nodes.size(); ++m) place_cores(m, plan.together);
    for (const auto& mask : masks_) plan.masks.push_back(here(mask));
    plan.nodes = to_;
    return plan;
  }

 private:
  bool narrow(const Cpus& mask) const { return !mask.empty() && mask != all_then_; }

  /// Whether the mask has the whole node, and that has more than one core.
  static bool has_all(const Cpus& mask, const Machine::Node& node) {
    const Cpus own = cpus_of(node);
    return node.cores.size() > 1 && std::includes(mask.begin(), mask.end(), own.begin(), own.end());
  }

  NodeUsage use_of(const Machine::Node& node, std::uint64_t bytes) const {
    NodeUsage use{{}, 0, bytes, node.cores.size()};
    std::set<std::size_t> cores;
    for (const auto& mask : masks_) {
      if (!narrow(mask)) continue;
      const bool whole = has_all(mask, node);
      use.anywhere += whole ? 1 : 0;
      for (std::size_t c = 0; c < node.cores.size() && !whole; ++c)
        if (!common(mask, node.cores[c]).empty()) cores.insert(c);
    }
    use.cores.assign(cores.begin(), cores.end());
    return use;
  }

  // Returns the cost of an assignment of nodes; the lower of two is better.
  std::uint64_t lost(const std::vector<std::size_t>& to) const {
    constexpr std::uint64_t kTogether = 1'000'000, kNoProcessor = 100'000'000, kCore = 1000, kRoom = 10'000, kKind = 50;
    std::vector<std::uint64_t> users(here_.nodes.size()), cores(users), bytes(users);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!uses_[i].any()) continue;
      const auto& target = here_.nodes[to[i]];
      ++users[to[i]];
      cores[to[i]] += uses_[i].needs();
      bytes[to[i]] += uses_[i].bytes;
      if (uses_[i].runs() && target.cores.empty()) sum += kNoProcessor;
      if (then_.nodes[i].cores.empty() != target.cores.empty()) sum += kKind;
      if (to[i] != i) ++sum;  // prefers equal numbers
      for (std::size_t j = 0; j < i; ++j)
        if (uses_[j].any())
          sum += 2 * static_cast<std::uint64_t>(std::llabs(static_cast<long long>(distance(then_, i, j)) -
                                                           static_cast<long long>(distance(here_, to[i], to[j]))));
    }
    for (std::size_t m = 0; m < here_.nodes.size(); ++m) {
      const auto& node = here_.nodes[m];
      if (users[m] > 1) sum += kTogether * (users[m] - 1);
      if (cores[m] > node.cores.size()) sum += kCore * (cores[m] - node.cores.size());
      if (node.bytes > 0 && bytes[m] > node.bytes) sum += kRoom * (1 + 10 * (bytes[m] - node.bytes) / node.bytes);
    }
    return sum;
  }

  // Begins with equal numbers, and takes any single change or exchange that lowers the cost, until there is none. It
  // ends, because costs only fall.
  void choose_nodes() {
    for (std::size_t n = 0; n < then_.nodes.size(); ++n) to_.push_back(n % here_.nodes.size());
    std::uint64_t best = lost(to_);
    const auto try_it = [&](const std::vector<std::size_t>& other) {
      const std::uint64_t sum = lost(other);
      if (sum >= best) return false;
      best = sum;
      to_ = other;
      return true;
    };
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 0; i < to_.size(); ++i) {
        for (std::size_t m = 0; m < here_.nodes.size(); ++m) {
          auto other = to_;
          other[i] = m;
          better = try_it(other) || better;
        }
        for (std::size_t j = 0; j < i; ++j) {
          auto other = to_;
          std::swap(other[i], other[j]);
          better = try_it(other) || better;
        }
      }
    }
    // An unused node may get a thread later.
    for (std::size_t n = 0; n < to_.size(); ++n)
      if (!uses_[n].any() && here_.nodes[to_[n]].cores.empty()) to_[n] = node_with_cpus();
  }

  std::size_t node_with_cpus() const {
    for (std::size_t m = 0; m < here_.nodes.size(); ++m)
      if (!here_.nodes[m].cores.empty()) return m;
    return 0;
  }

  // Places the old cores of node m onto its cores: each on one of its own, or neighbours together.
  void place_cores(std::size_t m, std::vector<std::string>& together) {
    const auto& cores = here_.nodes[m].cores;
    std::vector<CoreInNode> used;
    std::string nodes;
    std::size_t count = 0;
    bool same_numbers = true;
    for (std::size_t n = 0; n < to_.size(); ++n) {
      if (to_[n] != m || !uses_[n].any()) continue;
      nodes += (count++ == 0 ? "" : ", ") + std::to_string(n);
      for (const auto core : uses_[n].cores) {
        used.push_back({&then_.nodes[n], core});
        same_numbers = same_numbers && core < cores.size();
      }
    }
    const std::string where = "node " + std::to_string(m);
    if (count > 1) together.push_back("nodes " + nodes + ": all on " + where);
    if (cores.empty() || used.empty()) return;
    if (used.size() > cores.size())
      together.push_back(std::to_string(used.size()) + " cores of node " + nodes + ": on " +
                         std::to_string(cores.size()) + " cores of " + where);
    same_numbers = same_numbers && count == 1;
    std::vector<std::size_t> taken(cores.size());
    std::size_t shared = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto& [node, core] = used[i];
      const std::size_t c = same_numbers ? core : used.size() <= cores.size() ? i : i * cores.size() / used.size();
      for (const unsigned cpu : node->cores[core]) {
        if (!somebody_chose(cpu, *node)) continue;
        shared += taken[c] >= cores[c].size() ? 1 : 0;
        cpu_[cpu] = cores[c][taken[c]++ % cores[c].size()];
      }
    }
    if (shared > 0)
      together.push_back(std::to_string(shared) + " hardware threads of node " + nodes + ": on others' of " + where);
  }

  /// Whether a mask chose this processor without the whole node.
  bool somebody_chose(unsigned cpu, const Machine::Node& node) const {
    return std::any_of(masks_.begin(), masks_.end(), [&](const Cpus& mask) {
      return narrow(mask) && std::binary_search(mask.begin(), mask.end(), cpu) && !has_all(mask, node);
    });
  }

  Cpus here(const Cpus& mask) const {
    if (!narrow(mask)) return all_here_;
    std::set<unsigned> cpus;
    for (std::size_t n = 0; n < then_.nodes.size(); ++n) {
      const auto& node = then_.nodes[n];
      if (has_all(mask, node)) {
        const auto all = cpus_of(here_.nodes[to_[n]]);
        cpus.insert(all.begin(), all.end());
        continue;
      }
      for (const unsigned cpu : common(mask, cpus_of(node)))
        if (const auto found = cpu_.find(cpu); found != cpu_.end()) cpus.insert(found->second);
    }
    return cpus.empty() ? all_here_ : Cpus(cpus.begin(), cpus.end());
  }

  const Machine& then_;
  const Machine& here_;
  const Cpus all_then_, all_here_;
  std::vector<Cpus> masks_;
  std::vector<NodeUsage> uses_;       // of each old node
  std::vector<std::size_t> to_;       // by old node
  std::map<unsigned, unsigned> cpu_;  // for processors of narrow masks
};

}  // namespace

AffinityPlan plan_affinity(const Machine& then, const MachineUsage& use, const Machine& here) {
  if (!same_cores(then, here)) return Planner(then, use, here).plan();
  AffinityPlan same;
  const Cpus all = cpus_of(here);
  for (const auto& mask : use.masks) {
    same.masks.push_back(common(mask, all));
    if (same.masks.back().empty()) same.masks.back() = all;
  }
  for (std::size_t n = 0; n < then.nodes.size(); ++n) same.nodes.push_back(n);
  return same;
}

}  // namespace perdure::plan
