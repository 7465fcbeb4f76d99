#pragma once
// Describes the machine that a process runs on, as threads and pages see it: nodes of memory, cores, hardware threads,
// distances. Images of processes and checkpoints of the ordinary API store it.
#include <cstdint>
#include <string>
#include <vector>

#include "os/cpu_set.hpp"
#include "plan/affinity.hpp"

namespace perdure::affinity {

/// Empty: unknown.
struct MachineImage {
  std::vector<std::uint32_t> numbers;  ///< the kernel's number of each node of `machine`; ascending
  plan::Machine machine;
  bool known() const { return !numbers.empty(); }
  friend bool operator==(const MachineImage&, const MachineImage&) = default;
  PERDURE_FIELDS(numbers, machine)
  std::string wrong() const;
};

/// Reads the machine from `folder`, which is like /sys/devices/system. Without nodes of memory all is one node, number
/// 0. Empty if the system does not say which processors it has.
MachineImage read_machine(const std::string& folder);
/// Keeps only these hardware threads and these nodes; drops nodes with neither. Pure.
MachineImage limited(const MachineImage& machine, const os::CpuSet& cpus, const os::CpuSet& nodes);
/// Returns the part of this machine that processes started here may use. Read once: the first call takes some
/// milliseconds.
const MachineImage& machine_here();
/// Returns that part, and the part that has `cpus` and `nodes`.
MachineImage machine_here_with(const os::CpuSet& cpus, const os::CpuSet& nodes);
/// Returns all hardware threads, ascending. Pure.
std::vector<std::uint32_t> cpus_of(const MachineImage& machine);

}  // namespace perdure::affinity
