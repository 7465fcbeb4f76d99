#pragma once
// What `perdure metrics` shows of an engine. The names are in src/metrics/definitions.cpp.
#include "engine/ledger/node_state.hpp"
#include "metrics/definitions.hpp"

namespace perdure::engine {

/// What an engine is; does not change while it lives.
struct Identity {
  std::string job, node;
  std::string mode;              ///< as in engine.mode
  std::string scheme;            ///< as in redundancy.scheme
  std::uint64_t started_ns = 0;  ///< since 1970
};

/// The caller holds the engine's lock. How much there is does not depend on how many versions, ranks or nodes there
/// are.
void export_core(NodeState& core, metrics::Collection& out);
void export_identity(const NodeState& core, const Identity& identity, metrics::Collection& out);

}  // namespace perdure::engine
