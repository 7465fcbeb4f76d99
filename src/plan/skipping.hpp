#pragma once
// Which versions need not come to the store at all, because retention would remove them there. Pure.
#include "plan/retention.hpp"

namespace perdure::plan {

/// A version of one name that is at the store, or on its way there: it counts as complete.
struct ComingVersion : StoredVersion {
  bool may_go = false;  ///< nothing of it has begun to go to the store, and nobody waits for it, reads it or needs it
  /// This node has all of it, or all nodes have agreed to bring it there. False: other nodes may skip their parts.
  bool agreed = true;
};

/// Their places in `coming`, ascending. Of those that are agreed: what may go, and the policy gives up as soon as all
/// of these are stored. So however many wait, the newest keep_last are brought there, the multiples of keep_every, and
/// what may not go. Of the others: what may go, and has keep_last newer ones on its branch; multiples of
/// keep_every stay.
std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming);

/// For so many seconds nothing newer has to come before a node brings a version to the store that is not agreed on:
/// twice the time since the version before, in nanoseconds between their attempts; 1 s at least, 60 s at most.
double quiet_s(std::uint64_t before_ns, std::uint64_t begun_ns);

}  // namespace perdure::plan
