#pragma once
// What a thread that was just brought to a stop is in the middle of.
#include <sys/types.h>

#include "base/result.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// The registers that the thread goes on with, whatever it is asked meanwhile. Where it was in a restartable sequence
/// they are those behind the abort of it: a thread that stood still begins such a sequence anew, but the kernel sees
/// that by where it stands when it goes on, which is elsewhere for one that is asked something. PERDURE_UNSUPPORTED:
/// it has its system calls sent to itself, so that one that it is asked for would end it.
base::Result<Registers> registers_to_go_on(pid_t thread);

}  // namespace perdure::process
