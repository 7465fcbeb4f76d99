#pragma once
// What `perdure top` shows of an engine.
#include <string>

#include "cli/libraries.hpp"
#include "inspect/engines.hpp"

namespace perdure::cli {

base::Json engine_json(const inspect::EngineState& state);
/// For people; of the decisions the last `decisions`.
std::string engine_text(const inspect::EngineState& state, std::size_t decisions);
/// "5 s", "12 min", "3 h", "4 days".
std::string age_text(double seconds);
/// As much of `text` as a window shows that is not to scroll: longer lines are cut, and the last row says how many are
/// missing. Pure.
std::string fitted(const std::string& text, std::size_t columns, std::size_t rows);

}  // namespace perdure::cli
