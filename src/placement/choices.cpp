#include "placement/choices.hpp"

namespace perdure::placement {

std::optional<std::size_t> fastest_usable(const View& view) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < view.tiers.size(); ++i) {
    if (!usable(view.tiers[i])) continue;
    if (!best || with_one_more(view.tiers[i]) > with_one_more(view.tiers[*best])) best = i;
  }
  return best;
}

Decision take(const View& view, std::size_t tier, Reason reason) {
  const TierState& chosen = view.tiers[tier];
  const double rate = with_one_more(chosen);
  return {
      tier, reason, rate, view.flush.bytes_per_s, static_cast<double>(view.chunk_bytes) * (chosen.writers + 1) / rate,
      0};
}

Decision wait_or_take_any(const View& view, Decision why) {
  why.tier.reset();
  bool hope = false, last_hope = false;
  for (const TierState& tier : view.tiers) {
    last_hope |= tier.slots_to_come > 0;
    hope |= tier.slots_to_come > 0 && !tier.failed;
  }
  if (hope) return why;
  if (const auto fastest = fastest_usable(view)) return take(view, *fastest, Reason::nothing_to_wait_for);
  for (std::size_t i = 0; i < view.tiers.size(); ++i)
    if (view.tiers[i].free_slots > 0) return take(view, i, Reason::failed_last_resort);
  return {std::nullopt, last_hope ? Reason::wait_full : Reason::nowhere, 0, view.flush.bytes_per_s, 0, 0};
}

}  // namespace perdure::placement
