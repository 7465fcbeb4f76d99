#pragma once
// Gathers facts about the processors that our job may use on this machine. config/engine_cpus.hpp decides.
#include <string>
#include <vector>

#include "os/cpu_set.hpp"

namespace perdure::os {

/// A process that started this one, or one of its ancestors.
struct Ancestor {
  std::string name;             ///< as ps shows it, at most 15 characters
  bool same_user = false;       ///< runs as the user of this process
  bool session_leader = false;  ///< it began a session: a login shell, a batch script, a daemon
  bool launcher = false;        ///< starts ranks on its node, and may bind each to some processors
  CpuSet cpus;                  ///< it may use these
  CpuSet children;              ///< nearest launcher only: those of all processes of our user that it started
};

struct CpuFacts {
  CpuSet own;                       ///< processors of this process
  CpuSet reachable;                 ///< os::reachable_cpus()
  CpuSet online;                    ///< processors of the machine
  std::vector<Ancestor> ancestors;  ///< our parent first; only visible ones
  bool launcher_was_told = false;   ///< an option told it which processors to use: its mask does not show them
  unsigned slurm_cpus = 0;          ///< our job's processors on this node, as Slurm says; 0: it says nothing
};

struct CpuFactPlaces {
  std::string proc = "/proc";
  std::string online = "/sys/devices/system/cpu/online";
  int pid = 0;  ///< the process whose ancestors are wanted; 0: this one
};
CpuFacts gather_cpu_facts(const CpuFactPlaces& places = {});

/// Whether a process of this name starts ranks on its node: mpirun, orted, prted, hydra's proxies, slurmstepd ...
bool launches_ranks(const std::string& name);

}  // namespace perdure::os
