#pragma once
// Writes an engine's overview for `perdure top`.
#include <string>

#include "cli/libraries.hpp"
#include "inspect/engines.hpp"

namespace perdure::cli {

base::Json engine_json(const inspect::EngineState& state);
/// Writes it for people, with the last `decisions` decisions.
std::string engine_text(const inspect::EngineState& state, std::size_t decisions);
/// Writes "5 s", "12 min", "3 h", "4 days".
std::string age_text(double seconds);
/// Fits `text` into a window that is not to scroll: longer lines are cut, and the last row says how many are missing.
/// Pure.
std::string fitted(const std::string& text, std::size_t columns, std::size_t rows);

}  // namespace perdure::cli
