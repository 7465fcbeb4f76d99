// Takes the first tier with room, regardless of flushes: plain multi-tier caching (VeloC IPDPS'19, V-B).
#include "placement/choices.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {

Decision decide_hybrid_naive(const View& view) {
  for (std::size_t i = 0; i < view.tiers.size(); ++i)
    if (usable(view.tiers[i])) return take(view, i, Reason::first_with_room);
  return wait_or_take_any(view, {std::nullopt, Reason::wait_full, 0, view.flush.bytes_per_s, 0, 0});
}

}  // namespace perdure::placement
