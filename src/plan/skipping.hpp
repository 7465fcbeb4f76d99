#pragma once
// Which versions need not come to the store at all, because retention would remove them there. Pure.
#include "plan/retention.hpp"

namespace perdure::plan {

/// A version of one name that is at the store, or on its way there: it counts as complete.
struct ComingVersion : StoredVersion {
  bool may_go = false;  ///< nothing of it has begun to go to the store, and nobody waits for it, reads it or needs it
};

/// Their places in `coming`, ascending: those that may go, and that the policy gives up as soon as all are stored. So
/// however many wait, the newest keep_last are brought there, the multiples of keep_every, and what may not go.
std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming);

}  // namespace perdure::plan
