// The policies of VeloC IPDPS'19: those it compares with (V-B), and its own (Algorithm 2).
#include "placement/choices.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {
namespace {

Decision wait_for_room(const View& view) {
  return wait_or_take_any(view, {std::nullopt, Reason::wait_full, 0, view.flush.bytes_per_s, 0, 0});
}

}  // namespace

// Uses the first tier only: ideal if it holds everything. Takes others only if waiting is hopeless.
Decision decide_cache_only(const View& view) {
  if (!view.tiers.empty() && usable(view.tiers.front())) return take(view, 0, Reason::only_choice);
  return wait_for_room(view);
}

// Uses the last tier only, as if there were no cache. Takes others only if waiting is hopeless.
Decision decide_ssd_only(const View& view) {
  if (!view.tiers.empty() && usable(view.tiers.back())) return take(view, view.tiers.size() - 1, Reason::only_choice);
  return wait_for_room(view);
}

// Takes the first tier with room, regardless of flushes: plain multi-tier caching.
Decision decide_hybrid_naive(const View& view) {
  for (std::size_t i = 0; i < view.tiers.size(); ++i)
    if (usable(view.tiers[i])) return take(view, i, Reason::first_with_room);
  return wait_for_room(view);
}

// Algorithm 2, for any number of tiers. Takes the fastest predicted tier that has room and beats the moving average of
// the flush bandwidth (both aggregates of the node). Otherwise waits for a flush.
Decision decide_hybrid_opt(const View& view) {
  const auto fastest = fastest_usable(view);
  if (!fastest) return wait_for_room(view);
  Decision decision = take(view, *fastest, Reason::beats_flush);
  if (decision.tier_bytes_per_s > view.flush.bytes_per_s) return decision;
  decision.reason = Reason::wait_flush_faster;
  return wait_or_take_any(view, decision);
}

}  // namespace perdure::placement
