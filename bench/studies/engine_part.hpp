#pragma once
// Runs the few cells of a study that the real engine takes, beside the simulator's.
#include "engine_driver.hpp"
#include "study.hpp"

namespace perdure::studies {

struct EnginePart {
  Results results;             ///< the engine's rows, and the study's results from them
  std::vector<Row> simulated;  ///< the same scaled scenarios in the simulator
  std::string text;            ///< for readers: scale, comparison, failures
};

/// Ignores `context.driver`. PERDURE_UNSUPPORTED for a study without cells for the engine.
base::Result<EnginePart> run_engine_part(const Study& study, Context context, const EngineDriverOptions& options);

/// Returns both drivers' rows in one list.
std::vector<Row> all_rows(std::vector<Row> rows, const EnginePart& part);

}  // namespace perdure::studies
