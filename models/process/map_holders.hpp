#pragma once
// Files without a name and without a descriptor that a process has mapped: semaphores of Python's multiprocessing and
// the like.
#include <sys/types.h>

#include <set>
#include <vector>

#include "process/memory_maps.hpp"
#include "process/seen_files.hpp"

namespace perdure::process {

/// Those of `maps` that no descriptor of `files` means, and that it shares with nobody but `inside`. One that has other
/// names, or that another process has open or mapped, is none. Nothing of them changes.
std::set<MappedFile> nameless_files_of(const SeenFiles& files, const std::vector<MemoryMap>& maps,
                                       const std::set<pid_t>& inside);

}  // namespace perdure::process
