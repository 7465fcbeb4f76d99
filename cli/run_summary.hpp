#pragma once
// What `perdure run` says at its end.
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/unstored.hpp"
#include "launch/relaunch_loop.hpp"

namespace perdure::cli {

/// On standard error and, if one is named, in a JSON file. `nodes` may be nullptr. `unstored`: what the store lacks.
void tell(const LoopSummary& summary, const std::vector<Unstored>& unstored, const NodeKeeper* nodes,
          const std::string& json_file, Terminal& terminal);

}  // namespace perdure::cli
