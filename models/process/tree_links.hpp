#pragma once
// Finds the objects that processes of a tree share.
#include "process/memory_maps.hpp"
#include "process/seen_files.hpp"
#include "process/tree_image.hpp"

namespace perdure::process {

/// Completes pipes and sockets whose other end another process of the tree has.
void join_other_ends(std::vector<SeenFiles*> files);

/// Fills in the shared objects of `tree`, and keeps each content once. `files` and `maps` are those of each process.
/// All processes must stand still.
base::Status link_processes(TreeImage& tree, const std::vector<SeenFiles>& files,
                            const std::vector<std::vector<MemoryMap>>& maps);

}  // namespace perdure::process
