#pragma once
// The few cells of a study that the real engine runs, beside the simulator's.
#include "engine_driver.hpp"
#include "study.hpp"

namespace perdure::studies {

struct EnginePart {
  Results results;             ///< the engine's rows, and what the study makes of them
  std::vector<Row> simulated;  ///< the same scaled scenarios by the simulator
  std::string text;            ///< for people: scale, comparison, what failed
};

/// `context.driver` plays no part. PERDURE_UNSUPPORTED for a study without cells for the engine.
base::Result<EnginePart> run_engine_part(const Study& study, Context context, const EngineDriverOptions& options);

/// Both drivers' rows in one list.
std::vector<Row> all_rows(std::vector<Row> rows, const EnginePart& part);

}  // namespace perdure::studies
