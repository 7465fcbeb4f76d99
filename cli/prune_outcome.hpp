#pragma once
// Carries out the plan of `perdure prune`, or only prints it, and reports the outcome.
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/prune_plan.hpp"

namespace perdure::cli {

/// Tries every action, whether others fail or not. Returns kCannot when one failed.
int carry_out(const PrunePlan& plan, bool yes, bool json, Terminal& terminal);

}  // namespace perdure::cli
