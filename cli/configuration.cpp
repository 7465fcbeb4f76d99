#include "cli/configuration.hpp"

#include "config/effective.hpp"

namespace perdure::cli {

base::Result<config::Config> configuration_as_given(const Terminal& terminal) {
  return config::load("", terminal.settings);
}

base::Result<config::Config> configuration(const Terminal& terminal) {
  PERDURE_TRY(auto config, configuration_as_given(terminal));
  PERDURE_CHECK(config::make_paths_absolute(config));
  return config;
}

base::Status check_settings(const Terminal& terminal) {
  config::Config defaults;
  for (const std::string& setting : terminal.settings)
    PERDURE_CHECK(defaults.set_all(setting, config::Origin::command_line, "--set"));
  return {};
}

}  // namespace perdure::cli
