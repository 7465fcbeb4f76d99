#pragma once
// Parses the names that people give to checkpoints, and makes the error for one that does not exist.
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
  std::optional<plan::Branch> branch = {};  ///< empty: the current line
};
base::Result<CheckpointSpec> parse_checkpoint(const std::string& text);

/// Makes the error PERDURE_NOT_FOUND for a store without a checkpoint: it is empty, or no store at all.
base::Error no_checkpoint(store::Store& store);
/// Makes the error for a missing `spec`, with the existing versions: PERDURE_NOT_FOUND if nothing of the name exists,
/// PERDURE_MISMATCH if it has other versions.
base::Error no_such_checkpoint(store::Store& store, const CheckpointSpec& spec);

/// Writes nanoseconds since 1970 as local time with its zone, "2026-11-21 05:09:53 +01:00"; empty for 0.
std::string local_time(std::uint64_t ns);

/// Writes numbers as ranges: {0,1,2,5} -> "0-2,5".
std::string ranges_text(const std::vector<std::uint32_t>& ascending);

}  // namespace perdure::inspect
