// Brings the sources of a configuration together, in the order of their precedence.
#include <unistd.h>

#include "config/config.hpp"
#include "config/nearest.hpp"
#include "config/toml.hpp"
#include "os/file.hpp"

namespace perdure::config {
namespace {

using base::fail;
using base::Result;
using base::Status;
using Environment = std::map<std::string, std::string>;

constexpr std::string_view kPrefix = "PERDURE_";

bool reserved(std::string_view name) {
  return name == "PERDURE_CONFIG" || name == "PERDURE_LIBRARY" || name.starts_with("PERDURE_TEST_") ||
         name.starts_with("PERDURE_DEMO_");
}

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

Status unknown_variable(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : options()) names.emplace_back(option.environment);
  return fail(PERDURE_INVALID_ARGUMENT, std::string(name.substr(0, 200)),
              "there is no such environment variable; the nearest is " + std::string(nearest(name, names)),
              "correct or unset it; see docs/configuration.md");
}

Status load_environment(Config& config, const Environment& environment) {
  for (auto at = environment.lower_bound(std::string(kPrefix)); at != environment.end(); ++at) {
    const auto& [name, value] = *at;
    if (!name.starts_with(kPrefix)) break;
    if (reserved(name)) continue;
    const Option* found = nullptr;
    for (const Option& option : options()) {
      if (name == option.environment) found = &option;
    }
    if (found == nullptr) return unknown_variable(name);
    PERDURE_CHECK(config.set(found->key, value, Origin::environment, name));
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
  Environment environment;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos) environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  PERDURE_TRY(const std::string directory, os::absolute_path("."));
  return load_from(program, environment, directory, command_line);
}

}  // namespace perdure::config
