#pragma once
// Where engines and tiers keep what belongs to a node when a configuration does not say. Library and tools must agree,
// or prune and doctor would look at other places than the engines use.
#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace perdure::config {

/// node.path, or /dev/shm/perdure-<uid>.
std::string node_root(const Config& config);
/// The tiers that the table has options for: those with a tier.<name>.path.
std::vector<std::string> known_tiers();
/// tier.<tier>.path. Where it is empty: of the memory tier node_root(), of others perdure-<uid> in $TMPDIR, or in /tmp
/// without it. A TMPDIR that does not begin with "/" is a path in the working directory.
std::string tier_root(const Config& config, const std::string& tier);
/// What decides where node_root() is (without a tier), or tier_root(): "node.path", "tier.file.path", or "TMPDIR".
std::string root_setting(const Config& config, const std::string& tier = {});
/// The option that sets it, whatever decides now: "node.path" or "tier.file.path".
std::string root_option(const std::string& tier = {});
/// Where the slots of one engine's tier are: a directory in tier_root(), which no other tier and no other engine has.
/// `engine`: the name of the engine's directory in node_root(). With both default roots, the memory tier's is that
/// directory.
std::string tier_directory(const Config& config, const std::string& tier, const std::string& engine);
/// What tier_directory() adds to `engine`: the inverse is found by taking it away.
std::string tier_suffix(const std::string& tier);
/// tier.<tier>.max_bytes; 0, the tier's own default, where it has none.
std::uint64_t tier_max_bytes(const Config& config, const std::string& tier);
/// node_root() and the roots of all known tiers, each once.
std::vector<std::string> node_roots(const Config& config);

/// 16 hexadecimal digits from store location and job name: whose data it is.
std::string job_key(const Config& config);
/// 16 hexadecimal digits from store location, job name and node label: an engine's directory begins with them.
std::string node_key(const Config& config, const std::string& node_label);

/// Where device models are: placement.models; without it "perdure-models" beside the configuration file
/// (PERDURE_CONFIG, or perdure.toml in `directory`); where there is none, in the user's configuration directory
/// ($XDG_CONFIG_HOME/perdure or ~/.config/perdure). PERDURE_NOT_FOUND without HOME.
base::Result<std::string> model_root(const Config& config, const std::map<std::string, std::string>& environment,
                                     const std::string& directory);
/// The same with the environment and working directory of this process.
base::Result<std::string> model_root(const Config& config);

}  // namespace perdure::config
