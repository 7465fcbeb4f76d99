#pragma once
// Runs one rank of a run with the real engine.
#include "engine_run.hpp"
#include "findings.hpp"
#include "perdure/perdure.h"

namespace perdure::studies {

/// Opens a handle, makes both checkpoints, records observations, and returns after closing. Collective over `ranks`:
/// even after an error it takes part in the calls for which the others wait.
void write_as_rank(const EngineRun& run, const perdure_communicator& ranks, Findings& findings);

}  // namespace perdure::studies
