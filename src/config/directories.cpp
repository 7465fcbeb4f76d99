#include "config/directories.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::config {
namespace {

// Each user has a directory of its own, which others need not share and cannot enter.
std::string user_directory(const std::string& parent) { return parent + "/perdure-" + std::to_string(os::user_id()); }

constexpr std::string_view kTier = "tier.", kPath = ".path", kMemory = "memory";

// Empty if the table has no such option.
std::string tier_value(const Config& config, const std::string& tier, std::string_view option) {
  const auto found = config.values().find(std::string(kTier) + tier + std::string(option));
  return found == config.values().end() ? std::string() : found->second.text;
}

std::string key_of(const Config& config, const std::string& more) {
  std::string store = config.text("store.path");
  if (auto absolute = os::absolute_path(store); absolute && store.find("://") == std::string::npos) store = *absolute;
  const std::string text = store + '\n' + config.text("job") + more;
  return base::hash128(base::as_bytes(text)).hex().substr(0, 16);
}

using Environment = std::map<std::string, std::string>;

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

// Returns "" if TMPDIR is unset or empty.
std::string temporary_directory() {
  const char* value = std::getenv("TMPDIR");
  return value == nullptr ? "" : value;
}

}  // namespace

std::string node_root(const Config& config) {
  const std::string set = config.text("node.path");
  return set.empty() ? user_directory("/dev/shm") : set;
}

std::vector<std::string> known_tiers() {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    const std::string_view key = option.key;
    if (!key.starts_with(kTier) || !key.ends_with(kPath) || key.size() <= kTier.size() + kPath.size()) continue;
    names.emplace_back(key.substr(kTier.size(), key.size() - kTier.size() - kPath.size()));
  }
  return names;
}

std::string tier_root(const Config& config, const std::string& tier) {
  if (std::string set = tier_value(config, tier, kPath); !set.empty()) return set;
  if (tier == kMemory) return node_root(config);
  const std::string temporary = temporary_directory();
  return user_directory(temporary.empty() ? "/tmp" : os::absolute_path(temporary).value_or(temporary));
}

std::string root_setting(const Config& config, const std::string& tier) {
  if (tier.empty()) return root_option();
  if (!tier_value(config, tier, kPath).empty()) return root_option(tier);
  if (tier == kMemory) return root_option();
  return temporary_directory().empty() ? root_option(tier) : "TMPDIR";
}

std::string root_option(const std::string& tier) {
  return tier.empty() ? "node.path" : std::string(kTier) + tier + std::string(kPath);
}

// The first two tiers keep the names from the time when there were no others.
std::string tier_suffix(const std::string& tier) {
  if (tier == kMemory) return "";
  return tier == "file" ? ".slots" : "." + tier;
}

std::string tier_directory(const Config& config, const std::string& tier, const std::string& engine) {
  return tier_root(config, tier) + "/" + engine + tier_suffix(tier);
}

std::uint64_t tier_max_bytes(const Config& config, const std::string& tier) {
  return base::parse_bytes(tier_value(config, tier, ".max_bytes")).value_or(0);
}

std::vector<std::string> node_roots(const Config& config) {
  std::vector<std::string> roots{node_root(config)};
  for (const std::string& tier : known_tiers())
    if (const std::string root = tier_root(config, tier); std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(root);
  return roots;
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

std::string job_key(const Config& config) { return key_of(config, {}); }

std::string node_key(const Config& config, const std::string& node_label) { return key_of(config, '\n' + node_label); }

}  // namespace perdure::config
