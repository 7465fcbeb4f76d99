#pragma once
// Selects the engine's processors on this node by option engine.cpus: docs/adr/0017-processors-of-the-engine.md.
#include <string>

#include "config/config.hpp"
#include "os/cpu_facts.hpp"

namespace perdure::config {

struct EngineCpus {
  os::CpuSet cpus;     ///< for threads of the engine; empty: as the hosting process
  std::string reason;  ///< a clause for people
};

/// Chooses the processors (pure). Fails if a list names processors that no thread of this process may have.
base::Result<EngineCpus> choose_engine_cpus(const std::string& option, const os::CpuFacts& facts);
/// Chooses them with the facts of this machine.
base::Result<EngineCpus> engine_cpus(const Config& config);

}  // namespace perdure::config
