#pragma once
// Collects the metrics of an engine that `perdure metrics` shows. Their names are in src/metrics/definitions.cpp.
#include "engine/ledger/node_state.hpp"
#include "metrics/definitions.hpp"

namespace perdure::engine {

/// The identity of an engine, which never changes.
struct Identity {
  std::string job, node;
  std::string mode;              ///< as in engine.mode
  std::string scheme;            ///< as in redundancy.scheme
  std::uint64_t started_ns = 0;  ///< ns since 1970
};

/// The caller holds the engine's lock. The number of samples does not depend on how many versions, ranks or nodes there
/// are.
void export_core(NodeState& core, metrics::Collection& out);
void export_identity(const NodeState& core, const Identity& identity, metrics::Collection& out);

}  // namespace perdure::engine
