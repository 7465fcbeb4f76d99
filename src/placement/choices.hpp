#pragma once
// All policies share these: the tiers with room, and the choice if the policy wants none of them.
#include <optional>

#include "placement/decision.hpp"

namespace perdure::placement {

/// Whether it has a free slot and did not fail.
inline bool usable(const TierState& tier) { return tier.free_slots > 0 && !tier.failed; }

/// Returns the predicted aggregate, bytes/s, with one writer more.
inline double with_one_more(const TierState& tier) { return tier.model->bytes_per_s(tier.writers + 1); }

/// Returns the usable tier with the highest with_one_more; the first of equals.
std::optional<std::size_t> fastest_usable(const View& view);

Decision take(const View& view, std::size_t tier, Reason reason);

/// Waits for `why` while a flush can free a slot of a tier that did not fail. Otherwise it takes the fastest usable
/// tier, then a failed one with room, then a failed one's slot to come, then nowhere. So no policy can wait in vain.
Decision wait_or_take_any(const View& view, Decision why);

}  // namespace perdure::placement
