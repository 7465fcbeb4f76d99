#pragma once
// Builds the overview of an engine for `perdure top`: everything that explains why somebody waits.
#include "base/cbor.hpp"
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

/// Returns tiers, flushes, captures, versions, decisions and their reasons. The caller holds the engine's lock.
/// Bounded: the last decisions, and at most 256 captures and versions.
base::Json overview(NodeState& core);

}  // namespace perdure::engine
