#include "config/directories.hpp"

#include <cstdlib>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::config {
namespace {

// One for each user, so that nobody has to share, or may enter, those of others.
std::string user_directory(const std::string& parent) { return parent + "/perdure-" + std::to_string(os::user_id()); }

using Environment = std::map<std::string, std::string>;

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

std::string node_root(const Config& config) {
  const std::string set = config.text("node.path");
  return set.empty() ? user_directory("/dev/shm") : set;
}

std::string memory_tier_root(const Config& config) {
  const std::string set = config.text("tier.memory.path");
  return set.empty() ? node_root(config) : set;
}

std::string file_tier_root(const Config& config) {
  const std::string set = config.text("tier.file.path");
  const char* temporary = std::getenv("TMPDIR");
  return set.empty() ? user_directory(temporary == nullptr ? "/tmp" : temporary) : set;
}

base::Result<std::string> model_root(const Config& config, const Environment& environment,
                                     const std::string& directory) {
  if (std::string set = config.text("placement.models"); !set.empty()) return set;
  std::string file = value_of(environment, "PERDURE_CONFIG");
  const bool named = !file.empty();
  if (!named) file = "perdure.toml";
  if (!file.starts_with('/')) file = directory + "/" + file;
  if (named || os::exists(file).value_or(false)) return file.substr(0, file.rfind('/')) + "/perdure-models";
  if (const std::string xdg = value_of(environment, "XDG_CONFIG_HOME"); !xdg.empty())
    return xdg + "/perdure/perdure-models";
  if (const std::string home = value_of(environment, "HOME"); !home.empty())
    return home + "/.config/perdure/perdure-models";
  return base::fail(PERDURE_NOT_FOUND, "directory of device models",
                    "there is no configuration file, and HOME is not set",
                    "set placement.models, or name a configuration file with PERDURE_CONFIG");
}

base::Result<std::string> model_root(const Config& config) {
  Environment environment;
  for (const char* name : {"PERDURE_CONFIG", "XDG_CONFIG_HOME", "HOME"})
    if (const char* value = std::getenv(name)) environment.emplace(name, value);
  PERDURE_TRY(const std::string directory, os::absolute_path("."));
  return model_root(config, environment, directory);
}

}  // namespace perdure::config
