#pragma once
// Reads the image of a thread that stands still.
#include <functional>

#include "process/image.hpp"
#include "process/scratch.hpp"

namespace perdure::process {

/// Reads all but the pending signals. The thread itself makes calls that no other thread can make for it.
base::Result<ThreadImage> read_thread(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps);
/// Returns pending signals of the process as a whole.
base::Result<std::vector<std::vector<std::byte>>> read_shared_signals(pid_t thread);
/// Reads timers consistently with pending signals, because timers run on while a process stands still. A timer that
/// expires between two reads could look expired without its signal, or armed although its signal is pending. So `read`
/// is repeated until `pending` is equal before and after it. PERDURE_BUSY: that never happens.
base::Status read_between_signals(const std::function<base::Result<std::vector<std::vector<std::byte>>>()>& pending,
                                  const std::function<base::Status()>& read);
/// Returns pending signals of the thread itself.
base::Result<std::vector<std::vector<std::byte>>> read_own_signals(pid_t thread);

}  // namespace perdure::process
