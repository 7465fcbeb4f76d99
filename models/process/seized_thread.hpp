#pragma once
// Finds the exact state in which a thread was stopped.
#include <sys/types.h>

#include "base/result.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// Returns the registers with which the thread continues, whatever calls it makes for us. A thread in a restartable
/// sequence continues at the sequence's abort handler. The kernel would abort the sequence itself, but only if the
/// thread continues inside it; ours makes calls elsewhere. PERDURE_UNSUPPORTED: system calls of the thread are
/// dispatched to itself, so a call for us would end it.
base::Result<Registers> registers_to_go_on(pid_t thread);

}  // namespace perdure::process
