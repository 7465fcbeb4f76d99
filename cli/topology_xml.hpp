#pragma once
// A machine as hwloc writes it, so that its tools show it: lstopo --input FILE.
#include <string>

#include "affinity/machine.hpp"

namespace perdure::cli {

/// hwloc's XML of version 2: a group for each node of memory with processors, cores, hardware threads, sizes and
/// distances of memory. What an image does not have (caches, sockets, devices) is not there. The machine is known.
std::string topology_xml(const affinity::MachineImage& machine);

}  // namespace perdure::cli
