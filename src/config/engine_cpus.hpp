#pragma once
// The processors that option engine.cpus selects on this node: docs/adr/0017-processors-of-the-engine.md.
#include <string>

#include "config/config.hpp"
#include "os/cpu_facts.hpp"

namespace perdure::config {

struct EngineCpus {
  os::CpuSet cpus;     ///< for threads of the engine; empty: as the process that hosts it
  std::string reason;  ///< of these: a clause for people
};

/// Pure. Fails when a list names processors that no thread of this process may have.
base::Result<EngineCpus> choose_engine_cpus(const std::string& option, const os::CpuFacts& facts);
/// With the facts of this machine.
base::Result<EngineCpus> engine_cpus(const Config& config);

}  // namespace perdure::config
