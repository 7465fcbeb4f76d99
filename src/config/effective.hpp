#pragma once
// The configuration of a handle: loaded, with every path absolute, so that an engine elsewhere means the same places.
#include "config/config.hpp"

namespace perdure::config {

/// `command_line`: settings that win over all others, as of the --set of a tool.
base::Result<Config> effective_config(const char* options, const std::vector<std::string>& command_line = {});
/// Makes the paths that other processes use absolute (Option::absolute), from the working directory; URLs stay.
base::Status make_paths_absolute(Config& config);

}  // namespace perdure::config
