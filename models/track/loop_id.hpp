#pragma once
// Identifies loops. Pure.
#include <cstdint>
#include <string_view>

namespace perdure::track {

/// A hash of a loop's name and of its place in the program.
using LoopId = std::uint64_t;

/// The id of a loop: of what it is called, and where in the program it is (file and line, or whatever stays the same
/// from run to run).
LoopId loop_id(std::string_view name, std::string_view site);

}  // namespace perdure::track
