#pragma once
// Finds mapped files without a name and without a descriptor, such as semaphores of Python's multiprocessing.
#include <sys/types.h>

#include <set>
#include <vector>

#include "process/memory_maps.hpp"
#include "process/seen_files.hpp"

namespace perdure::process {

/// Returns the files of `maps` that have no descriptor in `files` and no name. A file that a process outside of
/// `inside` has open or mapped is left out. It changes none of them.
std::set<MappedFile> nameless_files_of(const SeenFiles& files, const std::vector<MemoryMap>& maps,
                                       const std::set<pid_t>& inside);

}  // namespace perdure::process
