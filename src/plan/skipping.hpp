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

/// Returns the places in `coming` of the versions to skip, ascending; each of them may go. An agreed version is skipped
/// where the policy would give it up once all agreed ones are stored. Another one is skipped where keep_last newer
/// numbers of its branch are there, and it is no multiple of keep_every.
std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming);

/// For so many seconds nothing newer has to come before a node brings a version to the store that is not agreed on:
/// twice the time since the version before, in nanoseconds between their attempts; 1 s at least, 60 s at most.
double quiet_s(std::uint64_t before_ns, std::uint64_t begun_ns);

}  // namespace perdure::plan
