#pragma once
// What the kernel keeps for a process that stands still, beside what /proc says (kernel_state.hpp).
#include <vector>

#include "process/image.hpp"
#include "process/memory_maps.hpp"
#include "process/read_state.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// The state of `image`, whose threads are there, and of each of them. What is kept nowhere is the answer.
base::Result<LostState> read_kernel_state(Tracee& tracee, const std::vector<MemoryMap>& maps, ProcessImage& image);

}  // namespace perdure::process
