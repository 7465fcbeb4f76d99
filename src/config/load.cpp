// Merges the sources of a configuration in the order of their precedence.
#include <algorithm>

#include "config/config.hpp"
#include "config/toml.hpp"
#include "config/variables.hpp"
#include "os/file.hpp"

namespace perdure::config {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr std::string_view kPrefix = "PERDURE_";

Status load_file(Config& config, const Environment& environment, const std::string& directory) {
  const auto named = environment.find("PERDURE_CONFIG");
  const bool by_name = named != environment.end() && !named->second.empty();
  std::string path = by_name ? named->second : "perdure.toml";
  if (!path.starts_with('/')) path = directory + "/" + path;
  auto content = os::read_file(path, kMaxFileBytes);
  if (!content) {
    if (!by_name && content.error().code == PERDURE_NOT_FOUND) return {};
    if (by_name) content.error().remedy = "PERDURE_CONFIG names this file; correct or unset it";
    return fail(std::move(content).error());
  }
  const std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
  PERDURE_TRY(auto settings, parse_toml(text, path));
  for (const Setting& setting : settings) PERDURE_CHECK(config.set(setting.key, setting.value, Origin::file, path));
  return {};
}

Status misspelt_variable(std::string_view name) {
  return fail(PERDURE_INVALID_ARGUMENT, std::string(name.substr(0, 200)),
              "there is no such environment variable; the nearest is " + std::string(nearest_variable(name)),
              "correct or unset it; see docs/configuration.md");
}

/// A variable that resembles no option belongs to the site, whose programs must run beside Perdure.
Status load_environment(Config& config, const Environment& environment) {
  for (auto at = environment.lower_bound(std::string(kPrefix)); at != environment.end(); ++at) {
    const std::string& name = at->first;
    if (!name.starts_with(kPrefix)) break;
    const VariableKind kind = kind_of_variable(name);
    if (kind == VariableKind::misspelt) return misspelt_variable(name);
    if (kind != VariableKind::option) continue;
    const auto all = options();
    const auto option =
        std::find_if(all.begin(), all.end(), [&](const Option& one) { return name == one.environment; });
    PERDURE_CHECK(config.set(option->key, at->second, Origin::environment, name));
  }
  return {};
}

}  // namespace

Result<Config> load_from(std::string_view program, const Environment& environment, const std::string& directory,
                         const std::vector<std::string>& command_line) {
  Config config;
  PERDURE_CHECK(config.set_all(program, Origin::program));
  PERDURE_CHECK(load_file(config, environment, directory));
  PERDURE_CHECK(load_environment(config, environment));
  for (const std::string& setting : command_line) {
    PERDURE_CHECK(config.set_all(setting, Origin::command_line, "command line"));
  }
  return config;
}

Result<Config> load(std::string_view program, const std::vector<std::string>& command_line) {
  PERDURE_TRY(const std::string directory, os::absolute_path("."));
  return load_from(program, own_environment(), directory, command_line);
}

}  // namespace perdure::config
