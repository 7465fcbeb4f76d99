#pragma once
// Answers queries about versions on their way from this node to the store.
#include <optional>
#include <string>

#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

/// Returns in how many seconds the first version that is held back may be flushed; nullopt if none is held back.
std::optional<double> held_back_for_s(const NodeState& state);
/// True if the node has enough versions of the name on their way: one being flushed, and one queued behind it
/// (docs/adr/0050).
bool busy(const NodeState& state, const std::string& name);
/// True if a part of any version of the name is unreachable on this node.
bool any_unreachable(const NodeState& state, const std::string& name);

}  // namespace perdure::engine
