#include "cli/check_protection_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/directories.hpp"
#include "config/effective.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

constexpr const char* kKeepAll = "1000000000";  // number of versions
constexpr const char* kIdleExit_s = "1";

std::string above(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

/// Gives the missing directories above these, inner ones first.
std::vector<std::string> missing_parents(const std::vector<std::string>& paths) {
  std::set<std::string> missing;
  for (const std::string& path : paths)
    for (std::string at = above(path); at.size() > 1 && !os::exists(at).value_or(true); at = above(at))
      missing.insert(at);
  return {missing.rbegin(), missing.rend()};
}

/// Makes `path`, for this user alone.
base::Status make_place(const std::string& path) {
  PERDURE_CHECK(os::make_directories(above(path)));
  return os::make_private_directory(path);
}

}  // namespace

base::Result<std::unique_ptr<CheckPlace>> CheckPlace::make(config::Config config) {
  PERDURE_CHECK(config::make_paths_absolute(config));
  if (config.text("store.path").find("://") != std::string::npos)
    return base::fail(PERDURE_UNSUPPORTED, config.text("store.path"),
                      "a check of protection needs a store that is a directory",
                      "name a directory with --store; the check keeps its own beside it");
  const std::string suffix = fmt::format("-check-{:08x}", static_cast<std::uint32_t>(os::random_u64()));
  std::unique_ptr<CheckPlace> place(new CheckPlace);
  place->job_ = "check" + suffix.substr(6);
  place->store_ = config.text("store.path") + suffix;
  place->node_ = config::node_root(config) + suffix;
  for (const std::string& tier : config::known_tiers()) {
    const std::string named = config::tier_root(config, tier);
    PERDURE_TRY(const std::string root, os::absolute_path(named));
    if (named != config::node_root(config)) place->tiers_[tier] = root + suffix;
  }
  place->config_ = std::move(config);
  const std::vector<std::string> all = place->directories();
  place->made_parents_ = missing_parents(all);
  PERDURE_TRY(place->remover_, Remover::start(all, place->made_parents_));
  for (const std::string& path : all) PERDURE_CHECK(make_place(path));
  return place;
}

std::vector<std::string> CheckPlace::directories() const {
  std::vector<std::string> all{store_, node_};
  for (const auto& [tier, path] : tiers_)
    if (std::find(all.begin(), all.end(), path) == all.end()) all.push_back(path);
  return all;
}

CheckPlace::~CheckPlace() { (void)remove_once(); }

base::Status CheckPlace::remove() {
  auto removed = remove_once();
  if (removed) remover_->dismiss();
  return removed;
}

base::Status CheckPlace::remove_once() {
  base::Status outcome;
  end_engines({node_});
  for (const std::string& path : directories())
    if (os::exists(path).value_or(true))
      if (auto removed = os::remove_tree(path); !removed && outcome) outcome = removed;
  for (const std::string& path : made_parents_) (void)::rmdir(path.c_str());  // unless somebody uses it meanwhile
  return outcome;
}

std::string CheckPlace::record_of(unsigned number) const { return fmt::format("{}/restored-by-{}", store_, number); }

base::Result<config::Config> CheckPlace::for_run(unsigned number) const {
  const std::string directory = fmt::format("/{}", number);
  config::Config config = config_;
  std::vector<std::pair<std::string, std::string>> settings = {{"store.path", store_ + directory},
                                                               {"node.path", node_ + directory},
                                                               {"job", fmt::format("{}-{}", job_, number)},
                                                               {"retention.keep_last", kKeepAll},
                                                               {"engine.spawn", "true"},
                                                               {"engine.idle_exit", kIdleExit_s},
                                                               {"restore.record", record_of(number)}};
  for (const auto& [tier, path] : tiers_) settings.emplace_back("tier." + tier + ".path", path + directory);
  for (const auto& [key, value] : settings)
    PERDURE_CHECK(config.set(key, value, config::Origin::command_line, "--check-protection"));
  return config;
}

Environment environment_of(const config::Config& config) {
  Environment environment;
  for (const auto& [key, value] : config.values())
    if (value.origin == config::Origin::command_line)
      environment.emplace_back(config::find_option(key)->environment, value.text);
  return environment;
}

}  // namespace perdure::cli
