#include "plan/node_assignment.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

bool among(const std::vector<std::string>& nodes, const std::string& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// Moves the failed nodes from `nodes` to `excluded`.
void take_out(std::vector<std::string>& nodes, const std::vector<std::string>& failed,
              std::vector<std::string>& excluded) {
  for (const auto& node : nodes)
    if (among(failed, node)) excluded.push_back(node);
  std::erase_if(nodes, [&](const std::string& node) { return among(failed, node); });
}

}  // namespace

NodeDecision first_assignment(const std::vector<std::string>& nodes, std::size_t count,
                              const std::vector<std::string>& excluded, bool shrink) {
  NodeDecision decision;
  NodeAssignment& next = decision.next;
  for (const auto& node : nodes) {
    auto& list = among(excluded, node) ? next.excluded : next.positions.size() < count ? next.positions : next.spares;
    list.push_back(node);
  }
  decision.possible = !next.positions.empty() && (shrink || next.positions.size() == count);
  return decision;
}

NodeDecision replace_failed(const NodeAssignment& now, const std::vector<std::string>& failed, bool shrink) {
  NodeDecision decision;
  NodeAssignment& next = decision.next;
  next.spares = now.spares;
  next.excluded = now.excluded;
  take_out(next.spares, failed, next.excluded);
  for (std::size_t position = 0; position < now.positions.size(); ++position) {
    const std::string& node = now.positions[position];
    if (!among(failed, node)) {
      next.positions.push_back(node);
      continue;
    }
    NodeReplacement replacement{position, node, {}};
    next.excluded.push_back(node);
    if (next.spares.empty()) {
      decision.possible = shrink;
    } else {
      replacement.by = next.spares.front();
      next.spares.erase(next.spares.begin());
      next.positions.push_back(replacement.by);
    }
    decision.replaced.push_back(std::move(replacement));
  }
  decision.possible &= !next.positions.empty();
  return decision;
}

std::uint64_t share_of_node(std::uint64_t total, std::uint64_t nodes) { return total / nodes + (total % nodes != 0); }

}  // namespace perdure::plan
