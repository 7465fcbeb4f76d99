#pragma once
// Decides which versions of a checkpoint a store removes. Pure; the engine and `perdure prune` call the same function.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/lineage.hpp"

namespace perdure::plan {

struct RetentionPolicy {
  std::uint64_t keep_last = 2;   ///< the newest complete versions that stay; 0 counts as 1
  std::uint64_t keep_every = 0;  ///< complete versions that are multiples of it stay, too; 0: none
  /// An incomplete version may still become complete although a newer one is: the job runs, and a node is late. False
  /// for versions of a job that does not run any more.
  bool may_arrive = false;
  /// Branches unrelated to the current line belong to other runs. False: the caller neither wrote them nor continued
  /// them, and removes none of them.
  bool other_runs = true;

  /// Whether this number stays, however old it is.
  bool keeps_always(std::uint64_t version) const { return keep_every > 0 && version % keep_every == 0; }
};

/// One attempt.
struct StoredVersion {
  std::uint64_t version = 0;
  bool complete = false;       ///< verified at least to manifest level
  std::uint64_t begun_ns = 0;  ///< tells which of two is newer; equal: the higher number
  Branch branch = kFirstBranch;
  bool damaged = false;  ///< all of it is there, but damaged: no longer complete
};

/// Returns the branch that goes on: that of the newest version that is or was complete; kFirstBranch if there is none.
Branch current_branch(const std::vector<StoredVersion>& stored);

/// Returns the attempts to remove, by their index in `stored`, ascending. Each group is judged by itself: the current
/// line, and the part of each other branch that is not on that line. Equal numbers in two groups are two versions. In a
/// group it removes:
/// - complete versions that are neither among the newest keep_last complete ones nor multiples of keep_every;
/// - complete attempts, if a newer attempt at the same version is complete;
/// - incomplete ones, if none may arrive any more: those that are older than a complete one;
/// - incomplete ones, if they may arrive: those that the policy would remove if they were complete. That is so if
///   keep_last newer versions are complete (and, for a multiple of keep_every, a newer multiple, too). It is also so if
///   a newer attempt at the same version is complete.
///
/// For incomplete ones, complete versions on the current line count as well. The newest complete version of a group
/// always stays.
std::vector<std::size_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored,
                                const std::vector<Fork>& forks = {});

}  // namespace perdure::plan
