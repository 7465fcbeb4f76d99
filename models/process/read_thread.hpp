#pragma once
// What an image says of a thread that stands still.
#include <functional>

#include "process/image.hpp"
#include "process/scratch.hpp"

namespace perdure::process {

/// Reads all but the pending signals. The thread carries out the calls that only it may make.
base::Result<ThreadImage> read_thread(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps);
/// Signals of the process that none of its threads has taken yet.
base::Result<std::vector<std::vector<std::byte>>> read_shared_signals(pid_t thread);
/// Timers go on while a process stands still. One that expires between two reads would be seen as none whose signal is
/// not there, or as one that is still to come and whose signal is: `read` is called until `pending` says the same
/// before and behind it. PERDURE_BUSY: it never does.
base::Status read_between_signals(const std::function<base::Result<std::vector<std::vector<std::byte>>>()>& pending,
                                  const std::function<base::Status()>& read);
/// Those of the thread itself.
base::Result<std::vector<std::vector<std::byte>>> read_own_signals(pid_t thread);

}  // namespace perdure::process
