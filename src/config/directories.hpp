#pragma once
// Where engines and tiers keep what belongs to a node when a configuration does not say. Library and tools must agree,
// or prune and doctor would look at other places than the engines use.
#include <map>
#include <string>

#include "config/config.hpp"

namespace perdure::config {

/// node.path, or /dev/shm/perdure-<uid>.
std::string node_root(const Config& config);
/// tier.memory.path, or node_root().
std::string memory_tier_root(const Config& config);
/// tier.file.path, or perdure-<uid> in $TMPDIR, or in /tmp without it.
std::string file_tier_root(const Config& config);

/// Where device models are: placement.models; without it "perdure-models" beside the configuration file
/// (PERDURE_CONFIG, or perdure.toml in `directory`); where there is none, in the user's configuration directory
/// ($XDG_CONFIG_HOME/perdure or ~/.config/perdure). PERDURE_NOT_FOUND without HOME.
base::Result<std::string> model_root(const Config& config, const std::map<std::string, std::string>& environment,
                                     const std::string& directory);
/// The same with the environment and working directory of this process.
base::Result<std::string> model_root(const Config& config);

}  // namespace perdure::config
