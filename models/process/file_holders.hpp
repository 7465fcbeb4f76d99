#pragma once
// Which other processes have the same pipes, sockets and counters open.
#include "process/seen_files.hpp"

namespace perdure::process {

/// Fills in `holders` of each file that others could have: all processes of the machine that may be looked at. Not
/// `inside`, and not `seen.process`.
void find_holders(SeenFiles& seen, const LookChoices& choices);

}  // namespace perdure::process
