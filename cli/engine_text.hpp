#pragma once
// What `perdure top` shows of an engine.
#include <string>

#include "cli/libraries.hpp"
#include "inspect/engines.hpp"

namespace perdure::cli {

base::Json engine_json(const inspect::EngineState& state);
/// For people; of the decisions the last `decisions`.
std::string engine_text(const inspect::EngineState& state, std::size_t decisions);

}  // namespace perdure::cli
