#pragma once
// Which nodes a launch uses, and which take the places of those that failed. Pure.
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

/// What becomes of the position of a node that failed.
struct NodeReplacement {
  std::size_t position = 0;  ///< among the positions before
  std::string failed;
  std::string by;  ///< empty: no spare was left, its ranks go to the other nodes
  bool operator==(const NodeReplacement&) const = default;
};

struct NodeDecision {
  bool possible = true;  ///< false: too few nodes; `next` then says what would be left
  NodeAssignment next;
  std::vector<NodeReplacement> replaced;
};

/// The first `count` of `nodes` that are not excluded have the positions, the others are spares. Fewer than `count` are
/// enough with `shrink`, but not none.
NodeDecision first_assignment(const std::vector<std::string>& nodes, std::size_t count,
                              const std::vector<std::string>& excluded, bool shrink);

/// Working nodes keep their positions, so that ranks stay where their data is; working spares replace failed nodes, in
/// their order. With `shrink` the positions that no node takes are given up.
NodeDecision replace_failed(const NodeAssignment& now, const std::vector<std::string>& failed, bool shrink);

/// How many of `total` (ranks, slots) each of `nodes` has to take, so that there is room for all. `nodes` is not 0.
std::uint64_t share_of_node(std::uint64_t total, std::uint64_t nodes);

}  // namespace perdure::plan
