#pragma once
// Where the program `perdured` is.
#include "config/config.hpp"

namespace perdure::config {

/// The path of the perdured to start, absolute as it works elsewhere: engine.daemon_path, beside the library or program
/// that asks, ../bin beside it, or the PATH.
base::Result<std::string> find_daemon(const Config& config);

}  // namespace perdure::config
