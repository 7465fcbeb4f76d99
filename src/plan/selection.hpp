#pragma once
// When an attempt at a version counts as begun: what was begun later is newer, not what has the higher number, because
// a program that goes back to an older version and on from there begins a new branch. Pure.
#include <cstdint>

namespace perdure::plan {

/// The time of a new attempt at a version: the clock's, or later than every known attempt of the name, because a clock
/// may go back and a later attempt must count as newer. (docs/adr/0002)
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns);

}  // namespace perdure::plan
