#pragma once
// The directories of engines on this machine, and which of them no engine uses any more.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "os/file.hpp"

namespace perdure::node {

struct EngineDirectory {
  std::string path;                      ///< the engine's directory; its lock is kLock
  std::vector<std::string> directories;  ///< that one and its tiers' directories, those that are there
  std::uint64_t bytes = 0;               ///< memory and disk they take
  std::int64_t written_s = 0;            ///< when anything in them was written last, since 1970; 0: not known
  bool alive = false;                    ///< an engine holds the lock
  double unused_s() const;               ///< since it was written last; 0 where that is not known
};

inline constexpr const char* kLock = "/engine.lock";
/// The file's path still leads to it: a lock counts only then, as its former owner may have removed the directory.
bool path_leads_to(const os::File& file);

/// "<16 hexadecimal digits>.<number>", as engines name their directories; nothing else is ever touched.
bool is_engine_name(std::string_view name);

/// Everything in a node.path that is named as engines name their directories, whether one lives there or not; nothing
/// when there is no such path.
base::Result<std::vector<std::string>> engine_directories(const std::string& node_root);

/// Those of which a part is where this configuration has engines and tiers, ascending by path.
base::Result<std::vector<EngineDirectory>> find_engine_directories(const config::Config& config);

/// Where that is there, it belongs to the engine, too.
void add_part(EngineDirectory& directory, const std::string& part);

/// The memory that all engines but `own` (the name of its directory) have in a memory tier's root, live ones and dead
/// ones. What cannot be seen counts as nothing.
std::uint64_t memory_of_others(const std::string& tier_root, std::string_view own);

}  // namespace perdure::node
