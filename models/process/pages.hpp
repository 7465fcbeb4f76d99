#pragma once
// Which pages of a process have content that is nowhere else, and on which nodes of memory they are.
#include <sys/types.h>

#include <vector>

#include "process/image.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_facts.hpp"

namespace perdure::process {

/// Pages of memory of the process's own in `map`, ascending: those that it wrote, swapped out or not. Not those that
/// were never touched, or only read, and none of a file. Guards are added to `guards`. The process stands still.
base::Result<std::vector<PageRun>> written_pages(pid_t process, const MemoryMap& map, std::vector<PageRun>& guards);
/// Those of `runs` that the process has, ascending, whatever they hold: pages of zeros, too.
base::Result<std::vector<PageRun>> pages_there(pid_t process, const std::vector<PageRun>& runs);
/// Of shared memory that is no file's: what some process wrote, whether this one has it mapped now or not.
base::Result<std::vector<PageRun>> shared_pages(pid_t process, const MemoryMap& map);

/// A reader's limit on the items of a record is some four million: each run is three.
inline constexpr std::size_t kMostPageRuns = 500'000;

/// Runs, so that at most `most` are left: those that are nearest to each other become one, within `maps` only. The
/// pages between them read as zeros or as the file's. Pure.
std::vector<PageRun> join_near_runs(std::vector<PageRun> runs, const std::vector<MemoryMap>& maps, std::size_t most);

/// How many nodes of memory this machine has; at least 1.
unsigned count_nodes();
/// The same pages by node, nodes ascending. Asked for are those of mappings of which `known` does not say it: some 100
/// ns each. What is nowhere now (swapped out) is where the page before it is.
base::Result<std::vector<NodePages>> pages_by_node(pid_t process, const std::vector<PageRun>& runs, unsigned nodes,
                                                   const SoleNodes& known = {});

}  // namespace perdure::process
