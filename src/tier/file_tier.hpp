#pragma once
// The file tier: one preallocated file per slot on a node-local directory, overwritten in place and never truncated
// (the DEEP-ER measurements show what truncation and deletion cost).
#include "tier/tier.hpp"

namespace perdure::tier {

base::Result<std::unique_ptr<Tier>> make_file_tier(const TierOptions& options);

}  // namespace perdure::tier
