#pragma once
// The parts of look_at_files(): what one open file is.
#include <optional>

#include "process/fd_info.hpp"
#include "process/file_duplicate.hpp"
#include "process/seen_files.hpp"

namespace perdure::process {

/// By its link, kind and fdinfo; nothing: it was closed.
std::optional<SeenFile> classified(pid_t process, int number, const std::string& link, const FdInfo& info);
/// What only a duplicate tells: owner, sockets, pipes.
base::Status add_details(SeenFile& seen, const FileDuplicates& duplicates);
/// Whether pipes and sockets end in this process.
void find_other_ends(SeenFiles& seen);
/// Which files the epolls watch.
void find_watched(SeenFiles& seen);

}  // namespace perdure::process
