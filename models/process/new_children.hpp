#pragma once
// Children that came between the look at a process and its standing still.
#include "process/tracee.hpp"

namespace perdure::process {

/// PERDURE_UNSUPPORTED when the process, all of which stands still, has any but `captor` (0: none may be), which has it
/// captured: they are not captured with it.
base::Status refuse_new_children(Tracee& tracee, pid_t captor);

}  // namespace perdure::process
