#pragma once
// Finds other processes that have the same pipes, sockets and counters open.
#include "process/seen_files.hpp"

namespace perdure::process {

/// Fills in `holders` of each file that others could have open. It looks at all processes that we may look at, except
/// `inside` and `seen.process`.
void find_holders(SeenFiles& seen, const LookChoices& choices);

}  // namespace perdure::process
