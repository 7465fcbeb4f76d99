#pragma once
// What the schemes with stripes have in common.
#include "redundancy/restoration.hpp"
#include "redundancy/stripes.hpp"

namespace perdure::redundancy {

/// Items of the stripe, parities included, that are lost or damaged. A block that its position never had is none: it
/// counts as empty, and all members know that.
unsigned missing_items(const Stripes& stripes, const GroupState& state, std::uint64_t stripe);

Restoration restore_from_stripe(const Stripes& stripes, const GroupState& state, Block block);

/// Those with the parities on the members.
double parity_bytes(unsigned n, unsigned m);
unsigned parity_losses(unsigned n, unsigned m);
bool parity_survives(unsigned n, unsigned m, const Positions& lost);
Restoration restore_distributed(const GroupState& state, Block block);

}  // namespace perdure::redundancy
