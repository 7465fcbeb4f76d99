#pragma once
// Writes a machine as hwloc does, so that its tools show it: lstopo --input FILE.
#include <string>

#include "affinity/machine.hpp"

namespace perdure::cli {

/// Writes hwloc's XML of version 2: a group for each node of memory with processors, cores, hardware threads, sizes and
/// distances of memory. Parts that an image does not have (caches, sockets, devices) are left out. The machine must be
/// known.
std::string topology_xml(const affinity::MachineImage& machine);

}  // namespace perdure::cli
