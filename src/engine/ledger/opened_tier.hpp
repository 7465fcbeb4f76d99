#pragma once
// Describes a tier as the catalog identifies it.
#include "catalog/tier_numbers.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

catalog::OpenedTier opened_tier(const tier::Tier& tier);
/// The running boot of the machine, as in TierPlace::boot. 0: unknown.
std::uint64_t boot_number();

}  // namespace perdure::engine
