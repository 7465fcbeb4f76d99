#pragma once
// Files that systems leave at the store, and those that the program has to read itself.
#include <string>
#include <vector>

namespace perdure::peers_bench {

/// Calls fsync for the share of rank `rank` in all files below `directory`; false: `why`. A file that goes meanwhile,
/// as an older version does, needs none.
bool sync_files(const std::string& directory, int rank, int ranks, std::string& why);
/// Fills `target` from the beginning of the file; false: `why`.
bool read_file(const std::string& path, std::vector<char>& target, std::string& why);

}  // namespace perdure::peers_bench
