#pragma once
// Finds pages of a process whose content exists nowhere else, and their NUMA nodes.
#include <sys/types.h>

#include <vector>

#include "process/image.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_facts.hpp"

namespace perdure::process {

/// Returns the private pages in `map` that the process wrote, ascending, swapped out or not. It leaves out pages that
/// were never touched or only read, and pages of a file. Adds guard regions to `guards`. The process must stand still.
base::Result<std::vector<PageRun>> written_pages(pid_t process, const MemoryMap& map, std::vector<PageRun>& guards);
/// Returns the pages of `runs` that are present, ascending, including pages of zeros.
base::Result<std::vector<PageRun>> pages_there(pid_t process, const std::vector<PageRun>& runs);
/// For anonymous shared memory: returns pages that any process wrote, whether or not this one maps them now.
base::Result<std::vector<PageRun>> shared_pages(pid_t process, const MemoryMap& map);

/// A reader accepts some four million items in a record; each run is three.
inline constexpr std::size_t kMostPageRuns = 500'000;

/// Merges the nearest runs until at most `most` are left, only within `maps`. The pages between them read as zeros, or
/// as the file's. Pure.
std::vector<PageRun> join_near_runs(std::vector<PageRun> runs, const std::vector<MemoryMap>& maps, std::size_t most);

/// Returns the number of NUMA nodes of this machine; at least 1.
unsigned count_nodes();
/// Groups pages by node, nodes ascending. It asks the kernel for pages in mappings that `known` does not tell; this
/// takes some 100 ns each. A swapped-out page counts to the node of the page before it.
base::Result<std::vector<NodePages>> pages_by_node(pid_t process, const std::vector<PageRun>& runs, unsigned nodes,
                                                   const SoleNodes& known = {});

}  // namespace perdure::process
