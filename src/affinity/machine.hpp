#pragma once
// The machine that a process runs on, as threads and pages see it: nodes of memory, cores, hardware threads, distances.
// Images of processes and checkpoints of the ordinary API have it.
#include <cstdint>
#include <string>
#include <vector>

#include "os/cpu_set.hpp"
#include "plan/affinity.hpp"

namespace perdure::affinity {

/// Nothing in it: it is not known.
struct MachineImage {
  std::vector<std::uint32_t> numbers;  ///< the kernel's, of each node of `machine`; ascending
  plan::Machine machine;
  bool known() const { return !numbers.empty(); }
  friend bool operator==(const MachineImage&, const MachineImage&) = default;
  PERDURE_FIELDS(numbers, machine)
  std::string wrong() const;
};

/// What the system says of itself in `folder`, as /sys/devices/system; without nodes of memory all is one node, number
/// 0. Nothing known where it does not say which processors it has.
MachineImage read_machine(const std::string& folder);
/// With nothing but these hardware threads, and these nodes; those without any of both are left out. Pure.
MachineImage limited(const MachineImage& machine, const os::CpuSet& cpus, const os::CpuSet& nodes);
/// What of this machine processes may use that are started here. Read once: the first call takes some milliseconds.
const MachineImage& machine_here();
/// The same, and what of the machine `cpus` and `nodes` have.
MachineImage machine_here_with(const os::CpuSet& cpus, const os::CpuSet& nodes);
/// All hardware threads, ascending. Pure.
std::vector<std::uint32_t> cpus_of(const MachineImage& machine);

}  // namespace perdure::affinity
