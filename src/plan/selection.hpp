#pragma once
// Dates attempts at a version. The later attempt is newer, not the higher number. A program that goes back to an older
// version and on from there begins a new branch. Pure.
#include <cstdint>

namespace perdure::plan {

/// Returns the time of a new attempt at a version: the clock's, or one later than every known attempt of the name. A
/// clock may go back, and a later attempt must count as newer. (docs/adr/0002)
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns);

}  // namespace perdure::plan
