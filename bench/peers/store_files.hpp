#pragma once
// Handles files that systems leave in the store, and files that the program has to read itself.
#include <string>
#include <vector>

namespace perdure::peers_bench {

/// Calls fsync for the share of rank `rank` in all files below `directory`; on failure returns false and sets `why`.
/// Files that disappear meanwhile, as an older version does, are skipped.
bool sync_files(const std::string& directory, int rank, int ranks, std::string& why);
/// Fills `target` from the beginning of the file; on failure returns false and sets `why`.
bool read_file(const std::string& path, std::vector<char>& target, std::string& why);

}  // namespace perdure::peers_bench
