#include "redundancy/groups.hpp"

#include <algorithm>
#include <numeric>

namespace perdure::redundancy {
namespace {

using Group = std::vector<std::uint32_t>;

std::string nodes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

std::string sizes_text(const GroupLimits& limits) {
  return std::to_string(limits.min_size) + " to " + std::to_string(limits.max_size);
}

base::Status check_group_request(std::span<const Domains> nodes, unsigned wanted, const GroupLimits& limits) {
  const std::string scheme = "redundancy scheme " + std::string(limits.scheme);
  if (wanted < limits.min_size || wanted > limits.max_size)
    return base::fail(
        PERDURE_INVALID_ARGUMENT, scheme,
        "groups of " + nodes_text(wanted) + " are wanted, and it can have groups of " + sizes_text(limits),
        "choose a group size from " + sizes_text(limits));
  if (nodes.size() < limits.min_size)
    return base::fail(PERDURE_UNSUPPORTED, scheme,
                      "the job runs on " + nodes_text(nodes.size()) + ", and a group needs at least " +
                          std::to_string(limits.min_size) + ", each a failure domain of its own",
                      "run on more nodes, or choose a scheme that needs fewer (single: only the store then outlives a "
                      "node)");
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (nodes[i].size() != nodes[0].size())
      return base::fail(PERDURE_INVALID_ARGUMENT, "node " + std::to_string(i),
                        "is in " + std::to_string(nodes[i].size()) + " named failure domains, and node 0 in " +
                            std::to_string(nodes[0].size()),
                        "name the same levels of domains for all nodes");
  return {};
}

/// Returns how many groups to make; 0 if sizes cannot be within the limits.
std::size_t group_count(std::size_t nodes, unsigned wanted, const GroupLimits& limits) {
  const std::size_t larger = std::max<std::size_t>(1, nodes / wanted), smaller = (nodes + wanted - 1) / wanted;
  const auto largest = [&](std::size_t groups) { return (nodes + groups - 1) / groups; };
  const auto smallest = [&](std::size_t groups) { return nodes / groups; };
  const bool larger_fits = largest(larger) <= limits.max_size;
  const bool smaller_fits = smallest(smaller) >= limits.min_size;
  if (larger_fits && smaller_fits && larger != smaller)
    return largest(larger) - wanted <= wanted - smallest(smaller) ? larger : smaller;
  if (larger_fits) return larger;
  return smaller_fits ? smaller : 0;
}

/// Replaces labels by numbers: the domain of a node at each level, distinct for distinct domains.
struct Topology {
  std::size_t levels = 0;
  std::vector<std::uint32_t> sorted;                // nodes; those of a domain of any level are together
  std::vector<std::vector<std::uint32_t>> domains;  // [level, innermost first][node]
};

Topology number_domains(std::span<const Domains> nodes) {
  Topology topology;
  topology.levels = nodes.empty() ? 0 : nodes[0].size();
  topology.sorted.resize(nodes.size());
  std::iota(topology.sorted.begin(), topology.sorted.end(), 0U);
  std::stable_sort(topology.sorted.begin(), topology.sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(nodes[a].rbegin(), nodes[a].rend(), nodes[b].rbegin(), nodes[b].rend());
  });
  topology.domains.assign(topology.levels, std::vector<std::uint32_t>(nodes.size()));
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const auto before = topology.sorted[i - 1], node = topology.sorted[i];
    bool other = false;  // in another domain than the one before, once the outer ones differ
    for (std::size_t level = topology.levels; level-- > 0;) {
      other = other || nodes[before][level] != nodes[node][level];
      topology.domains[level][node] = topology.domains[level][before] + (other ? 1 : 0);
    }
  }
  return topology;
}

/// Returns the members of each domain of a level, as runs in the order of the group, which keeps domains together.
std::vector<Group> runs_of(const Group& group, const std::vector<std::uint32_t>& domain) {
  std::vector<Group> runs;
  for (const std::uint32_t node : group) {
    if (runs.empty() || domain[runs.back().back()] != domain[node]) runs.emplace_back();
    runs.back().push_back(node);
  }
  return runs;
}

/// Separates members of one domain: the largest domain first, on every other position, then the others on the rest. Two
/// neighbours are then of one domain only if more than half of the group is.
void separate_neighbours(Group& group, const Topology& topology) {
  for (std::size_t level = topology.levels; level-- > 0;) {
    auto runs = runs_of(group, topology.domains[level]);
    if (runs.size() == 1) continue;  // all share this domain: the domains within it may still differ
    if (runs.size() == group.size()) return;
    std::stable_sort(runs.begin(), runs.end(), [](const Group& a, const Group& b) { return a.size() > b.size(); });
    std::size_t position = 0;
    for (const Group& run : runs)
      for (const std::uint32_t node : run) {
        group[position] = node;
        position += 2;
        if (position >= group.size()) position = 1;  // the even ones are taken
      }
    return;
  }
}

Sharing sharing_of(const std::vector<Group>& groups, const std::vector<std::uint32_t>& domain) {
  Sharing sharing;
  for (const Group& group : groups) {
    unsigned most = 1;
    for (const Group& run : runs_of(group, domain)) most = std::max(most, static_cast<unsigned>(run.size()));
    sharing.most = std::max(sharing.most, most);
    sharing.groups += most > 1 ? 1 : 0;
  }
  return sharing;
}

}  // namespace

base::Result<GroupPlan> plan_groups(std::span<const Domains> nodes, unsigned wanted, const GroupLimits& limits) {
  PERDURE_CHECK(check_group_request(nodes, wanted, limits));
  const std::size_t count = group_count(nodes.size(), wanted, limits);
  if (count == 0)
    return base::fail(PERDURE_UNSUPPORTED, "redundancy scheme " + std::string(limits.scheme),
                      nodes_text(nodes.size()) + " cannot be divided into groups of " + sizes_text(limits),
                      "run on more nodes, or choose another group size");
  const Topology topology = number_domains(nodes);
  GroupPlan plan;
  plan.groups.resize(count);
  // Deals nodes like cards, with all of a domain together. Every group gets L / count of a domain of L nodes, at any
  // level, rounded up or down, which is as even as possible. The groups' sizes differ by at most one.
  for (std::size_t i = 0; i < nodes.size(); ++i) plan.groups[i % count].push_back(topology.sorted[i]);
  for (const auto& level : topology.domains) plan.sharing.push_back(sharing_of(plan.groups, level));
  for (Group& group : plan.groups) separate_neighbours(group, topology);
  return plan;
}

}  // namespace perdure::redundancy
