#pragma once
// One coordinated checkpoint by the real engine on emulated devices, with writers that are threads of this process.
#include <string>

#include "simulate/scenario.hpp"

namespace perdure::studies {

struct EngineRun {
  simulate::Scenario scenario;  ///< of real size: chunk_bytes is the option
  std::string policy;
  std::string directory;   ///< everything is in there; absolute, without ';'
  double time_scale = 1;   ///< real seconds per described second
  double patience_s = 60;  ///< real, for a slot, for a flush, and for the end
  bool verify = false;     ///< restore afterwards, and compare every byte
};

/// An engine starts, makes a small checkpoint, from which it learns what flushes give, and then the one that is
/// measured; the outcome is in described seconds. Errors: those of the engine. Call it in a process that may be killed.
base::Result<simulate::Outcome> run_in_engine(const EngineRun& run);

/// What the engine of a run is started with.
std::string engine_options(const EngineRun& run);

}  // namespace perdure::studies
