#pragma once
// What this node knows of its slots and versions, and the lock that everybody takes who asks or changes it.
#include "base/guarded.hpp"
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

using Ledger = base::Guarded<NodeState>;

/// Rewrites the catalog's log when it has grown far beyond its content. The snapshot is written and synced without the
/// lock. To be called without it, by any thread.
base::Status compact_catalog(Ledger& ledger);

}  // namespace perdure::engine
