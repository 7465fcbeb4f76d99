// Uses the first tier only: ideal if it holds everything (VeloC IPDPS'19, V-B). Takes others only if waiting is
// hopeless.
#include "placement/choices.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {

Decision decide_cache_only(const View& view) {
  if (!view.tiers.empty() && usable(view.tiers.front())) return take(view, 0, Reason::only_choice);
  return wait_or_take_any(view, {std::nullopt, Reason::wait_full, 0, view.flush.bytes_per_s, 0, 0});
}

}  // namespace perdure::placement
