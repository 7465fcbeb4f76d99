#pragma once
// Finds the program `perdured`.
#include "config/config.hpp"

namespace perdure::config {

/// Returns the path of the perdured to start. It looks at engine.daemon_path, beside the calling library or program, in
/// ../bin beside that, and in the PATH. The path is absolute, so that it is valid elsewhere.
base::Result<std::string> find_daemon(const Config& config);

}  // namespace perdure::config
