#pragma once
// Questions about versions that a node brings to the store.
#include <optional>
#include <string>

#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

/// In how many seconds the first of those that are held back may be flushed; nothing: none is.
std::optional<double> held_back_for_s(const NodeState& state);
/// This node has versions of the name enough on their way: one that is flushed, and one after it. (docs/adr/0050)
bool busy(const NodeState& state, const std::string& name);
/// Versions of the name of which this node has a part that it cannot reach.
bool any_unreachable(const NodeState& state, const std::string& name);

}  // namespace perdure::engine
