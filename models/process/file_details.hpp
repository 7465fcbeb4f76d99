#pragma once
// Declares the parts of look_at_files() that examine one open file.
#include <optional>

#include "process/fd_info.hpp"
#include "process/file_duplicate.hpp"
#include "process/seen_files.hpp"

namespace perdure::process {

/// Classifies an open file by its link, type and fdinfo. Returns nothing if it was closed meanwhile.
std::optional<SeenFile> classified(pid_t process, int number, const std::string& link, const FdInfo& info);
/// Adds facts that only a duplicate shows: owner, sockets, pipes.
base::Status add_details(SeenFile& seen, const FileDuplicates& duplicates);
/// Finds which pipes and sockets have their other end in this process.
void find_other_ends(SeenFiles& seen);
/// Finds the files that each epoll descriptor watches.
void find_watched(SeenFiles& seen);

}  // namespace perdure::process
