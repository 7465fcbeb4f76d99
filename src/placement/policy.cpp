#include "placement/policy.hpp"

namespace perdure::placement {

std::optional<std::size_t> first_with_room(std::span<const TierView> tiers) {
  std::optional<std::size_t> last_resort;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (!tiers[i].can_hold) continue;
    if (!tiers[i].failed) return i;
    if (!last_resort) last_resort = i;
  }
  return last_resort;
}

}  // namespace perdure::placement
