// VeloC IPDPS'19, Algorithm 2, for any number of tiers. Takes the fastest predicted tier that has room and beats the
// moving average of the flush bandwidth (both aggregates of the node). Otherwise waits for a flush.
#include "placement/choices.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {

Decision decide_hybrid_opt(const View& view) {
  const auto fastest = fastest_usable(view);
  if (!fastest) return wait_or_take_any(view, {std::nullopt, Reason::wait_full, 0, view.flush.bytes_per_s, 0, 0});
  Decision decision = take(view, *fastest, Reason::beats_flush);
  if (decision.tier_bytes_per_s > view.flush.bytes_per_s) return decision;
  decision.reason = Reason::wait_flush_faster;
  return wait_or_take_any(view, decision);
}

}  // namespace perdure::placement
