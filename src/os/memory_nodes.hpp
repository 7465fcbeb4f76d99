#pragma once
// Finds and chooses the memory nodes of pages, of the calling process alone. No call needs a privilege.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "os/cpu_set.hpp"

namespace perdure::os {

/// Returns the size of a page in bytes, which is also its alignment.
std::uint64_t page_size();
/// Whether several nodes are online. A machine that does not say counts as one node.
bool has_several_nodes();
/// Writes the node of the page at each address; a negative number if there is no page or the kernel does not say.
void find_nodes(std::span<void* const> addresses, std::span<int> nodes);
/// Whether this thread, or the one that started it, has a memory policy (set_mempolicy, numactl).
bool has_memory_policy();
/// The processors and the memory that belong to a node.
struct NodeMemory {
  std::uint32_t node = 0;
  CpuSet cpus;  ///< processors of the node, if it has any
  std::vector<base::MemorySpan> memory;
};
/// Allocates the missing pages of this memory now, from its node while that has free ones. A thread per node touches
/// them there. Existing pages keep content and place, and a policy of the mapping (mbind) takes precedence. False:
/// pages are left for their first user to touch.
bool touch_on_nodes(std::span<const NodeMemory> memory);
/// Moves pages from other nodes to this one, as far as the kernel can.
void move_to_node(std::uint32_t node, base::MemorySpan memory);

}  // namespace perdure::os
