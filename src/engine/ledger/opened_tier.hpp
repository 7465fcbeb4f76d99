#pragma once
// What the catalog knows a tier by.
#include "catalog/tier_numbers.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

catalog::OpenedTier opened_tier(const tier::Tier& tier);
/// As in TierPlace::boot: of the machine as it runs now. 0: not known.
std::uint64_t boot_number();

}  // namespace perdure::engine
