#pragma once
// Describes the machine that a process runs on. Checkpoints of the ordinary API record it too.
#include "affinity/machine.hpp"

namespace perdure::process {

using affinity::cpus_of;
using affinity::limited;
using affinity::machine_here;
using affinity::machine_here_with;
using affinity::MachineImage;
using affinity::read_machine;

}  // namespace perdure::process
