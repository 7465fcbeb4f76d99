#pragma once
// Chooses the nodes of a launch, and replacements for failed ones. Pure.
#include <cstdint>
#include <string>
#include <vector>

namespace perdure::plan {

/// Position i runs the i-th share of the ranks. No node is in two of these lists.
struct NodeAssignment {
  std::vector<std::string> positions;
  std::vector<std::string> spares;
  std::vector<std::string> excluded;  ///< never used again, in the order in which they failed
  bool operator==(const NodeAssignment&) const = default;
};

/// The fate of a failed node's position.
struct NodeReplacement {
  std::size_t position = 0;  ///< among the positions before
  std::string failed;
  std::string by;  ///< empty: no spare was left, and its ranks go to the other nodes
  bool operator==(const NodeReplacement&) const = default;
};

struct NodeDecision {
  bool possible = true;  ///< false: too few nodes; `next` then has those that are left
  NodeAssignment next;
  std::vector<NodeReplacement> replaced;
};

/// The first `count` of `nodes` that are not excluded get the positions, the others are spares. With `shrink` fewer
/// than `count` suffice, but at least one.
NodeDecision first_assignment(const std::vector<std::string>& nodes, std::size_t count,
                              const std::vector<std::string>& excluded, bool shrink);

/// Working nodes keep their positions, so that ranks stay where their data is. Working spares replace failed nodes in
/// order. With `shrink` positions without a node are dropped.
NodeDecision replace_failed(const NodeAssignment& now, const std::vector<std::string>& failed, bool shrink);

/// Returns how many of `total` (ranks, slots) each of `nodes` (> 0) has to take, so that there is room for all.
std::uint64_t share_of_node(std::uint64_t total, std::uint64_t nodes);

}  // namespace perdure::plan
