#pragma once
// Chooses the directories of engines and tiers if the configuration does not name them. Library and tools must agree:
// otherwise prune and doctor would not look at the engines' directories.
#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace perdure::config {

/// Returns node.path, or /dev/shm/perdure-<uid>.
std::string node_root(const Config& config);
/// Returns the tiers that have options in the table: those with a tier.<name>.path.
std::vector<std::string> known_tiers();
/// Returns tier.<tier>.path. If that is empty, the memory tier is in node_root(). Other tiers are in perdure-<uid> in
/// $TMPDIR, or in /tmp without it. A relative TMPDIR is a path in the working directory.
std::string tier_root(const Config& config, const std::string& tier);
/// Returns the setting that decides node_root() (without a tier), or tier_root(): "node.path", "tier.file.path", or
/// "TMPDIR".
std::string root_setting(const Config& config, const std::string& tier = {});
/// Returns the option that can set it, whatever decides now: "node.path" or "tier.file.path".
std::string root_option(const std::string& tier = {});
/// Returns the directory of one engine's slots of a tier: in tier_root(), shared with no other tier or engine. `engine`
/// is the name of the engine's directory in node_root(). With both default roots, the memory tier's is that directory.
std::string tier_directory(const Config& config, const std::string& tier, const std::string& engine);
/// Returns the suffix that tier_directory() adds to `engine`; removing it inverts tier_directory().
std::string tier_suffix(const std::string& tier);
/// Returns tier.<tier>.max_bytes; 0 (the tier's own default) if it has none.
std::uint64_t tier_max_bytes(const Config& config, const std::string& tier);
/// Returns node_root() and the roots of all known tiers, each once.
std::vector<std::string> node_roots(const Config& config);

/// Returns 16 hexadecimal digits, from store location and job name, that identify the owner of data.
std::string job_key(const Config& config);
/// Returns 16 hexadecimal digits from store location, job name and node label. The name of an engine's directory begins
/// with them.
std::string node_key(const Config& config, const std::string& node_label);

/// Returns the directory of device models: placement.models, or else "perdure-models" beside the configuration file
/// (PERDURE_CONFIG, or perdure.toml in `directory`). Without such a file it is in the user's configuration directory
/// ($XDG_CONFIG_HOME/perdure or ~/.config/perdure). PERDURE_NOT_FOUND without HOME.
base::Result<std::string> model_root(const Config& config, const std::map<std::string, std::string>& environment,
                                     const std::string& directory);
/// Does so with the environment and working directory of this process.
base::Result<std::string> model_root(const Config& config);

}  // namespace perdure::config
