#pragma once
// Prints the summary at the end of `perdure run`.
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/unstored.hpp"
#include "launch/relaunch_loop.hpp"

namespace perdure::cli {

/// Prints on standard error and, if one is named, in a JSON file. `nodes` may be nullptr. `unstored`: versions that the
/// store lacks.
void tell(const LoopSummary& summary, const std::vector<Unstored>& unstored, const NodeKeeper* nodes,
          const std::string& json_file, Terminal& terminal);

}  // namespace perdure::cli
