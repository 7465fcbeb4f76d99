#pragma once
// Runs one coordinated checkpoint with the real engine on emulated devices; writers are threads of this process.
#include <string>

#include "simulate/scenario.hpp"

namespace perdure::studies {

struct EngineRun {
  simulate::Scenario scenario;  ///< of real size: chunk_bytes is the option
  std::string policy;
  std::string directory;   ///< holds all files; absolute, without ';'
  double time_scale = 1;   ///< real seconds per described second
  double patience_s = 60;  ///< real limit of each wait: for a slot, for a flush, and for the end
  bool verify = false;     ///< restore afterwards, and compare every byte
};

/// Starts an engine, makes a small checkpoint, from which the engine learns its flush rates, and then the measured one.
/// The outcome is in described seconds. Errors: those of the engine. Call it in a process that may be killed.
base::Result<simulate::Outcome> run_in_engine(const EngineRun& run);

/// Returns the options of the run's engine.
std::string engine_options(const EngineRun& run);

}  // namespace perdure::studies
