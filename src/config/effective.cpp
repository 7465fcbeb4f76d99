#include "config/effective.hpp"

#include "os/file.hpp"

namespace perdure::config {

base::Status make_paths_absolute(Config& config) {
  for (const char* key : {"store.path", "node.path", "tier.memory.path", "tier.file.path", "placement.models",
                          "emulate.description", "restore.record"}) {
    const std::string path = config.text(key);
    if (path.empty() || path.find("://") != std::string::npos) continue;
    PERDURE_TRY(const std::string absolute, os::absolute_path(path));
    const Value before = config.values().at(key);
    PERDURE_CHECK(config.set(key, absolute, before.origin, before.source));
  }
  return {};
}

base::Result<Config> effective_config(const char* options) {
  PERDURE_TRY(auto config, load(options == nullptr ? "" : options));
  PERDURE_CHECK(make_paths_absolute(config));
  return config;
}

}  // namespace perdure::config
