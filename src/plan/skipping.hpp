#pragma once
// Chooses versions that need not reach the store, because retention would remove them there. Pure.
#include "plan/retention.hpp"

namespace perdure::plan {

/// A version of one name that is at the store, or on its way there: it counts as complete.
struct ComingVersion : StoredVersion {
  bool may_go = false;  ///< no part of it has begun to go to the store, and nobody waits for it, reads it or needs it
  /// This node has all of it, or all nodes have agreed to store it. False: other nodes may skip their parts.
  bool agreed = true;
};

/// Returns the indices in `coming` of the versions to skip, ascending; each of them may go. An agreed version is
/// skipped if the policy would remove it once all agreed ones are stored. Any other is skipped if keep_last newer
/// numbers of its branch exist, and it is no multiple of keep_every.
std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming);

/// Returns for how many seconds no newer version may come before a node stores one that is not agreed on. That is twice
/// the time since the version before, in nanoseconds between their attempts; at least 1 s, at most 60 s.
double quiet_s(std::uint64_t before_ns, std::uint64_t begun_ns);

}  // namespace perdure::plan
