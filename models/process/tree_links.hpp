#pragma once
// What processes of a tree have together, as it can be seen of them.
#include "process/memory_maps.hpp"
#include "process/seen_files.hpp"
#include "process/tree_image.hpp"

namespace perdure::process {

/// Pipes and sockets whose other end another of them has are whole.
void join_other_ends(std::vector<SeenFiles*> files);

/// While all stand still: fills in what processes of `tree` have together; content is kept once. `files`, `maps`: of
/// each.
base::Status link_processes(TreeImage& tree, const std::vector<SeenFiles>& files,
                            const std::vector<std::vector<MemoryMap>>& maps);

}  // namespace perdure::process
