#pragma once
// The schemes with stripes share this code.
#include "redundancy/block_map.hpp"
#include "redundancy/stripes.hpp"

namespace perdure::redundancy {

/// Counts the lost or damaged items of the stripe, parities included. A block that its position never had is not lost:
/// it counts as empty, and all members know that.
unsigned missing_items(const Stripes& stripes, const GroupState& state, std::uint64_t stripe);

Restoration restore_from_stripe(const Stripes& stripes, const GroupState& state, Block block);

/// These are for parities on the members.
double parity_bytes(unsigned n, unsigned m);
unsigned parity_losses(unsigned n, unsigned m);
bool parity_survives(unsigned n, unsigned m, const Positions& lost);
Restoration restore_distributed(const GroupState& state, Block block);

/// A parity has the number of its stripe, and is named (stripe, index of the parity in it).
std::shared_ptr<const BlockMap> distributed_map(unsigned n, unsigned m);
std::shared_ptr<const BlockMap> server_map(unsigned n, unsigned m);

}  // namespace perdure::redundancy
