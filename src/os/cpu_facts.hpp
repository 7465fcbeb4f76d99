#pragma once
// What this machine says about the processors that our job may use on it. Facts only: config/engine_cpus.hpp decides.
#include <string>
#include <vector>

#include "os/cpu_set.hpp"

namespace perdure::os {

/// A process that started us, or one that started that one.
struct Ancestor {
  std::string name;             ///< as ps shows it, at most 15 characters
  bool same_user = false;       ///< as this process
  bool session_leader = false;  ///< it began a session: a login shell, a batch script, a daemon
  bool launcher = false;        ///< starts ranks on its node, and may bind each to some processors
  CpuSet cpus;                  ///< that it may use
  CpuSet children;              ///< the nearest launcher only: those of all processes of our user that it started
};

struct CpuFacts {
  CpuSet own;                       ///< of this process
  CpuSet reachable;                 ///< os::reachable_cpus()
  CpuSet online;                    ///< of the machine
  std::vector<Ancestor> ancestors;  ///< our parent first; those that can be seen
  bool launcher_was_told = false;   ///< which processors to use, by an option of its own: its mask does not show them
  unsigned slurm_cpus = 0;          ///< how many Slurm says that our job has on this node; 0: it says nothing
};

struct CpuFactPlaces {
  std::string proc = "/proc";
  std::string online = "/sys/devices/system/cpu/online";
  int pid = 0;  ///< whose ancestors; 0: ours
};
CpuFacts gather_cpu_facts(const CpuFactPlaces& places = {});

/// Whether a process of this name starts ranks on its node: mpirun, orted, prted, hydra's proxies, slurmstepd and so
/// on.
bool launches_ranks(const std::string& name);

}  // namespace perdure::os
