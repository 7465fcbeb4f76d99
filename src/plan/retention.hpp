#pragma once
// Which versions of a checkpoint a store gives up. Pure; the engine and `perdure prune` call the same function.
#include <cstdint>
#include <vector>

namespace perdure::plan {

struct RetentionPolicy {
  std::uint64_t keep_last = 2;   ///< how many of the newest complete versions stay; 0 counts as 1
  std::uint64_t keep_every = 0;  ///< complete versions that are multiples of it stay too; 0: none
};

struct StoredVersion {
  std::uint64_t version = 0;
  bool complete = false;       ///< verified at least to manifest level
  std::uint64_t begun_ns = 0;  ///< its attempt: which of two versions is the newer one; equal: the higher number
};

/// Versions to give up, ascending, each once: complete ones that are neither among the newest keep_last complete ones
/// nor multiples of keep_every, and incomplete ones older than the newest complete one. Never the newest complete one.
/// Incomplete ones that are newer stay: they may still become complete. A version that occurs twice (two attempts) is
/// complete if one of them is, and as new as the newest of these.
std::vector<std::uint64_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored);

}  // namespace perdure::plan
