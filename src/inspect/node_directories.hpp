#pragma once
// The directories of engines on this machine, and which of them no engine uses any more.
#include <string>
#include <vector>

#include "config/config.hpp"

namespace perdure::inspect {

struct NodeDirectory {
  std::string path;                      ///< the engine's directory; its lock is engine.lock
  std::vector<std::string> directories;  ///< that one and its tiers' directories, those that are there
  std::uint64_t bytes = 0;               ///< memory and disk they take
  double unused_s = 0;                   ///< since anything in them was written last; 0 where that is not known
  bool alive = false;                    ///< an engine holds the lock
};

/// Everything in a node.path that is named as engines name their directories, whether one lives there or not; nothing
/// when there is no such path.
base::Result<std::vector<std::string>> engine_directories(const std::string& node_root);

base::Result<std::vector<NodeDirectory>> find_node_directories(const config::Config& config);

/// Takes the lock, so that no engine starts there meanwhile, and removes everything. PERDURE_BUSY when an engine lives.
base::Status remove_node_directory(const NodeDirectory& directory);

}  // namespace perdure::inspect
