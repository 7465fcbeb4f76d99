#pragma once
// Removes the residue of a dead engine, in steps that any death may end:
// 1. its lock is taken, so that no engine starts there;
// 2. its catalog must be unchanged since it was looked at;
// 3. the catalog is removed: from here on nothing is held, and the rest is room for whoever comes;
// 4. the tiers' directories go, then all in the engine's own, the lock last.
#include "node/left.hpp"

namespace perdure::node {

/// Fails with PERDURE_BUSY, without a change, if an engine lives there, or has lived there since the look. Repeatable.
base::Status give_up(const Left& left);

}  // namespace perdure::node
