#pragma once
// Gives up what a dead engine left, in steps that any death may end:
// 1. its lock is taken, so that no engine starts there;
// 2. its catalog has to be as it was looked at;
// 3. the catalog is removed: from here on nothing is held, and what remains is room for whoever comes;
// 4. the tiers' directories go, then all in the engine's own, the lock last.
#include "node/left.hpp"

namespace perdure::node {

/// PERDURE_BUSY: an engine lives there, or has lived there since it was looked at; then nothing is changed. Repeatable.
base::Status give_up(const Left& left);

}  // namespace perdure::node
