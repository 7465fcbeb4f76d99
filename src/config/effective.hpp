#pragma once
// Loads the configuration of a handle, and makes every path absolute, so that engines elsewhere mean the same places.
#include "config/config.hpp"

namespace perdure::config {

/// Loads it; settings of `command_line` win over all others, such as the --set of a tool.
base::Result<Config> effective_config(const char* options, const std::vector<std::string>& command_line = {});
/// Makes the paths that other processes use absolute (Option::absolute), from the working directory; URLs stay.
base::Status make_paths_absolute(Config& config);

}  // namespace perdure::config
