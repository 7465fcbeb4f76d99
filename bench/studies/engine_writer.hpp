#pragma once
// One rank of a run by the real engine.
#include "engine_run.hpp"
#include "findings.hpp"
#include "perdure/perdure.h"

namespace perdure::studies {

/// Opens a handle, makes both checkpoints, and notes what it sees; returns when it has closed. Collective over `ranks`:
/// whatever fails, it takes part in what the others would wait for.
void write_as_rank(const EngineRun& run, const perdure_communicator& ranks, Findings& findings);

}  // namespace perdure::studies
