#pragma once
// The memory tier: one sparse shared-memory file (the arena) cut into slots. A slot's address range is as large as a
// chunk may be, its backing grows to what chunks really needed and is recycled with it, so that copies run at memory
// speed and not at page-fault speed.
#include "tier/tier.hpp"

namespace perdure::tier {

base::Result<std::unique_ptr<Tier>> make_memory_tier(const TierOptions& options);

}  // namespace perdure::tier
