#pragma once
// Which versions of a checkpoint a store gives up. Pure; the engine and `perdure prune` call the same function.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perdure::plan {

struct RetentionPolicy {
  std::uint64_t keep_last = 2;   ///< how many of the newest complete versions stay; 0 counts as 1
  std::uint64_t keep_every = 0;  ///< complete versions that are multiples of it stay too; 0: none
  /// An incomplete version may still become complete, although a newer one is: the job runs, and a node is late. False
  /// for what a job left that does not run any more.
  bool may_arrive = false;
};

/// One attempt.
struct StoredVersion {
  std::uint64_t version = 0;
  bool complete = false;       ///< verified at least to manifest level
  std::uint64_t begun_ns = 0;  ///< which of two is the newer one; equal: the higher number
};

/// The attempts to give up, by their places in `stored`, ascending:
/// - complete ones that are neither among the newest keep_last complete versions nor multiples of keep_every, and those
///   of which a newer attempt at the same version is complete;
/// - incomplete ones, where none may arrive any more: those that are older than a complete one;
/// - incomplete ones, where they may arrive: those that the policy would not keep if they were complete. That is so
/// when
///   keep_last newer versions are complete (and, of a multiple of keep_every, a newer multiple too), or when a newer
///   attempt at the same version is.
/// Never the newest complete one.
std::vector<std::size_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored);

}  // namespace perdure::plan
