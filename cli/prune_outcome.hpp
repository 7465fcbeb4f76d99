#pragma once
// Does what `perdure prune` planned, or only says it, and tells what came of it.
#include "cli/prune_plan.hpp"
#include "cli/verb.hpp"

namespace perdure::cli {

/// Every action is tried, whether others fail or not. kCannot when one failed.
int carry_out(const PrunePlan& plan, bool yes, bool json, Terminal& terminal);

}  // namespace perdure::cli
