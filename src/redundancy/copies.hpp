#pragma once
// What buddy and partner have in common: a copy of everything at the next position.
#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

/// Who keeps the copies of a position's blocks.
inline unsigned copy_position(unsigned n, unsigned position) { return (position + 1) % n; }

unsigned copy_losses(unsigned n, unsigned m);
double copy_bytes(unsigned n, unsigned m);
bool copies_survive(unsigned n, unsigned m, const Positions& lost);
Restoration restore_copy(const GroupState& state, Block block);

}  // namespace perdure::redundancy
