#pragma once
// On which nodes of memory pages are, and to which they come. Of the calling process alone; nothing of it needs a
// privilege.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "os/cpu_set.hpp"

namespace perdure::os {

/// Bytes of a page, which are also the alignment of one.
std::uint64_t page_size();
/// Several nodes are online. A machine that does not say has one.
bool has_several_nodes();
/// Where the pages are that have these addresses; below 0: there is none, or the kernel does not say.
void find_nodes(std::span<void* const> addresses, std::span<int> nodes);
/// Whoever started this thread, or the thread itself, chose where its memory is to come from (set_mempolicy, numactl).
bool has_memory_policy();
/// What belongs to a node.
struct NodeMemory {
  std::uint32_t node = 0;
  CpuSet cpus;  ///< of the node, if it has any
  std::vector<base::MemorySpan> memory;
};
/// Where this memory has no pages yet it gets them now, from its node as long as there are any: touched by a thread for
/// each node, which runs there. What is there stays as it is, content and place, and a policy of the mapping (mbind)
/// counts for more. False: something is left for whoever touches it first.
bool touch_on_nodes(std::span<const NodeMemory> memory);
/// Moves the pages that are not on this node to it, as far as the kernel can.
void move_to_node(std::uint32_t node, base::MemorySpan memory);

}  // namespace perdure::os
