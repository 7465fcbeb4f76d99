#pragma once
// Where engines and tiers keep what belongs to a node when a configuration does not say. Library and tools must agree,
// or prune and doctor would look at other places than the engines use.
#include <string>

#include "config/config.hpp"

namespace perdure::config {

/// node.path, or /dev/shm/perdure-<uid>.
std::string node_root(const Config& config);
/// tier.memory.path, or node_root().
std::string memory_tier_root(const Config& config);
/// tier.file.path, or perdure-<uid> in $TMPDIR, or in /tmp without it.
std::string file_tier_root(const Config& config);

}  // namespace perdure::config
