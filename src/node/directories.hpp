#pragma once
// Finds the directories of engines on this machine, and those that no engine uses any more.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "os/file.hpp"

namespace perdure::node {

struct EngineDirectory {
  std::string path;                      ///< the engine's directory; its lock is kLock
  std::vector<std::string> directories;  ///< `path` and those of its tiers that exist
  std::uint64_t bytes = 0;               ///< memory and disk they take
  std::int64_t written_s = 0;            ///< time of the last write in them, in s since 1970; 0: unknown
  bool alive = false;                    ///< an engine holds the lock
  double unused_s() const;               ///< since the last write; 0 if that is unknown
};

inline constexpr const char* kLock = "/engine.lock";
/// True if the file's path still leads to it. A lock counts only then, as its former owner may have removed the
/// directory.
bool path_leads_to(const os::File& file);

/// True for "<16 hexadecimal digits>.<number>", the names of engines' directories. Entries with other names are never
/// touched.
bool is_engine_name(std::string_view name);

/// Returns all entries of a node.path that are named like engines' directories, whether an engine lives there or not.
/// Empty if there is no such path.
base::Result<std::vector<std::string>> engine_directories(const std::string& node_root);

/// Returns directories with a part in the places that this configuration gives engines and tiers, ascending by path.
base::Result<std::vector<EngineDirectory>> find_engine_directories(const config::Config& config);

/// Adds `part` to the engine's directories if it exists.
void add_part(EngineDirectory& directory, const std::string& part);

/// Returns the memory that all engines, alive or dead, except `own` (the name of its directory) have in a memory tier's
/// root. Unreadable directories count as 0.
std::uint64_t memory_of_others(const std::string& tier_root, std::string_view own);

}  // namespace perdure::node
