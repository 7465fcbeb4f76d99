#pragma once
// Buddy and partner share this code: they keep a copy of everything at the next position.
#include "redundancy/block_map.hpp"

namespace perdure::redundancy {

/// Returns the position that keeps the copies of a position's blocks.
inline unsigned copy_position(unsigned n, unsigned position) { return (position + 1) % n; }

unsigned copy_losses(unsigned n, unsigned m);
double copy_bytes(unsigned n, unsigned m);
bool copies_survive(unsigned n, unsigned m, const Positions& lost);
Restoration restore_copy(const GroupState& state, Block block);
/// A copy has the number of its block, and is named (number, position of the block).
std::shared_ptr<const BlockMap> copy_map(unsigned n, unsigned m);

}  // namespace perdure::redundancy
