#pragma once
// Carries out what `perdure prune` planned, or only prints it, and reports the outcome.
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/prune_plan.hpp"

namespace perdure::cli {

/// Every action is tried, whether others fail or not. kCannot when one failed.
int carry_out(const PrunePlan& plan, bool yes, bool json, Terminal& terminal);

}  // namespace perdure::cli
