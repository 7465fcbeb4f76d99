#pragma once
// Identifies loops. Pure.
#include <cstdint>
#include <string_view>

namespace perdure::track {

/// A hash of a loop's name and of its place in the program.
using LoopId = std::uint64_t;

/// Returns the id of a loop with this name at this site. The site is file and line, or any text that stays the same
/// from run to run.
LoopId loop_id(std::string_view name, std::string_view site);

}  // namespace perdure::track
