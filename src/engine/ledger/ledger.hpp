#pragma once
// Holds the node's knowledge of its slots and versions, and the lock that every reader and writer of it takes.
#include "base/guarded.hpp"
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

using Ledger = base::Guarded<NodeState>;

/// Rewrites the catalog's log when it has grown far beyond its content. The snapshot is written and synced without the
/// lock. Any thread may call it, without the lock.
base::Status compact_catalog(Ledger& ledger);

}  // namespace perdure::engine
