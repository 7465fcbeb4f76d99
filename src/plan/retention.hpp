#pragma once
// Which versions of a checkpoint a store gives up. Pure; the engine and `perdure prune` call the same function.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/lineage.hpp"

namespace perdure::plan {

struct RetentionPolicy {
  std::uint64_t keep_last = 2;   ///< how many of the newest complete versions stay; 0 counts as 1
  std::uint64_t keep_every = 0;  ///< complete versions that are multiples of it stay too; 0: none
  /// An incomplete version may still become complete, although a newer one is: the job runs, and a node is late. False
  /// for what a job left that does not run any more.
  bool may_arrive = false;
  /// Branches that have nothing in common with the current line are other runs'. False: whoever asks neither wrote them
  /// nor went on from them, and gives up nothing of them.
  bool other_runs = true;

  /// This number stays, however old it is.
  bool keeps_always(std::uint64_t version) const { return keep_every > 0 && version % keep_every == 0; }
};

/// One attempt.
struct StoredVersion {
  std::uint64_t version = 0;
  bool complete = false;       ///< verified at least to manifest level
  std::uint64_t begun_ns = 0;  ///< which of two is the newer one; equal: the higher number
  Branch branch = kFirstBranch;
  bool damaged = false;  ///< all of it is there, and it is not good: not complete any more
};

/// The branch that goes on: of the newest version that is, or was, complete. kFirstBranch where there is none.
Branch current_branch(const std::vector<StoredVersion>& stored);

/// The attempts to give up, by their places in `stored`, ascending. Each group is looked at by itself: the current
/// line, and of each other branch what is not on that line. Equal numbers in two groups are two versions. Of a group:
/// - complete ones that are neither among the newest keep_last complete versions nor multiples of keep_every, and those
///   of which a newer attempt at the same version is complete;
/// - incomplete ones, where none may arrive any more: those that are older than a complete one;
/// - incomplete ones, where they may arrive: those that the policy would not keep if they were complete. That is so
/// when
///   keep_last newer versions are complete (and, of a multiple of keep_every, a newer multiple too), or when a newer
///   attempt at the same version is.
/// For incomplete ones what is complete on the current line counts as well. Never the newest complete one of a group.
std::vector<std::size_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored,
                                const std::vector<Fork>& forks = {});

}  // namespace perdure::plan
