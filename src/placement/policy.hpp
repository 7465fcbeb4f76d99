#pragma once
// Where the next chunk goes. Pure: the engine says what it sees, the policy decides. (VeloC IPDPS'19, Algorithm 2 has
// this shape; the model-driven policies of that paper join this family in issue 3.)
#include <cstddef>
#include <optional>
#include <span>

namespace perdure::placement {

/// One tier at the moment of the decision, in configured order (fastest first).
struct TierView {
  bool can_hold = false;  ///< a slot for this chunk is free, or can be made without waiting
  bool failed = false;    ///< its last operations failed; use only when nothing else is left
  unsigned writers = 0;   ///< ranks writing to it now
};

/// First tier with room; a failed tier only when no other has room; nothing: wait until a slot becomes free.
std::optional<std::size_t> first_with_room(std::span<const TierView> tiers);

}  // namespace perdure::placement
