#pragma once
// Asks the living engines of this machine for their overviews.
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "config/config.hpp"

namespace perdure::inspect {

struct EngineState {
  std::string directory;
  base::Result<base::Json> overview;  ///< the error when it did not answer
};

/// Asks every engine that lives in the configured node directory. Errors: the directory cannot be read.
base::Result<std::vector<EngineState>> ask_engines(const config::Config& config);

/// Gives the directories that ask_engines looks at.
std::vector<std::string> places_of_engines(const config::Config& config);
/// Tells people, when no engine was found, which directories were searched, and how to search elsewhere.
std::string no_engine_text(const config::Config& config);

}  // namespace perdure::inspect
