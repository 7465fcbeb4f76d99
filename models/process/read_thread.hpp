#pragma once
// What an image says of a thread that stands still.
#include "process/image.hpp"
#include "process/scratch.hpp"

namespace perdure::process {

/// All of it but its pending signals. What only the thread itself may ask, it asks.
base::Result<ThreadImage> read_thread(Tracee& tracee, pid_t thread, const std::vector<MemoryMap>& maps);
/// Signals of the process that none of its threads has taken yet.
base::Result<std::vector<std::vector<std::byte>>> read_shared_signals(pid_t thread);
/// Those of the thread itself.
base::Result<std::vector<std::vector<std::byte>>> read_own_signals(pid_t thread);

}  // namespace perdure::process
