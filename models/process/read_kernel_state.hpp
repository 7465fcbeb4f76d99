#pragma once
// Asks a process that stands still for its permissions and switches (kernel_state.hpp).
#include <vector>

#include "process/image.hpp"
#include "process/memory_maps.hpp"
#include "process/read_state.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// Fills in the state of `image` and of its threads. Returns the state that no image keeps.
base::Result<LostState> read_kernel_state(Tracee& tracee, const std::vector<MemoryMap>& maps, ProcessImage& image);

}  // namespace perdure::process
