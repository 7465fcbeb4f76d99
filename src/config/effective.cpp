#include "config/effective.hpp"

#include "os/file.hpp"

namespace perdure::config {

base::Status make_paths_absolute(Config& config) {
  for (const Option& option : options()) {
    const Value before = config.values().find(option.key)->second;
    const std::string& path = before.text;
    if (!option.absolute || path.empty() || path.find("://") != std::string::npos) continue;
    PERDURE_TRY(const std::string absolute, os::absolute_path(path));
    PERDURE_CHECK(config.set(option.key, absolute, before.origin, before.source));
  }
  return {};
}

base::Result<Config> effective_config(const char* options, const std::vector<std::string>& command_line) {
  PERDURE_TRY(auto config, load(options == nullptr ? "" : options, command_line));
  PERDURE_CHECK(make_paths_absolute(config));
  return config;
}

}  // namespace perdure::config
