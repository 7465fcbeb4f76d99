#pragma once
// How people name checkpoints, and the error for one that does not exist.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

/// NAME, NAME@VERSION, or NAME@BRANCH:VERSION.
struct CheckpointSpec {
  std::string name;
  std::optional<std::uint64_t> version = {};
  std::optional<plan::Branch> branch = {};  ///< nothing: the current line
};
base::Result<CheckpointSpec> parse_checkpoint(const std::string& text);

/// The error PERDURE_NOT_FOUND for a store without a checkpoint: it is empty, or no store at all.
base::Error no_checkpoint(store::Store& store);
/// The error for what `spec` names, with what exists instead: PERDURE_NOT_FOUND where there is nothing of the name,
/// PERDURE_MISMATCH where there are other versions of it.
base::Error no_such_checkpoint(store::Store& store, const CheckpointSpec& spec);

/// Nanoseconds since 1970 as local time with its zone, "2026-11-21 05:09:53 +01:00"; empty for 0.
std::string local_time(std::uint64_t ns);

/// Numbers as ranges: {0,1,2,5} -> "0-2,5".
std::string ranges_text(const std::vector<std::uint32_t>& ascending);

}  // namespace perdure::inspect
