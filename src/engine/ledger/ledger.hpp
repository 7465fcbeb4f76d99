#pragma once
// What this node knows of its slots and versions, and the lock that everybody takes who asks or changes it.
#include "base/guarded.hpp"
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

using Ledger = base::Guarded<NodeState>;

}  // namespace perdure::engine
