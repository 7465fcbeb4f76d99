#pragma once
// What the living engines of this machine say of themselves, and how it looks.
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "config/config.hpp"

namespace perdure::cli {

struct EngineState {
  std::string directory;
  base::Result<base::Json> overview;  ///< the error when it did not answer
};

/// Asks every engine that lives in the configured node directory. Errors: the directory cannot be read.
base::Result<std::vector<EngineState>> ask_engines(const config::Config& config);

/// The directories that ask_engines looks at.
std::vector<std::string> places_of_engines(const config::Config& config);
/// For people, when none was found: where it was looked and how to look elsewhere.
std::string no_engine_text(const config::Config& config);

base::Json engine_json(const EngineState& state);
/// For people; of the decisions the last `decisions`.
std::string engine_text(const EngineState& state, std::size_t decisions);

}  // namespace perdure::cli
