#pragma once
// Policies of memory: on which nodes the kernel takes it. Pure.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::process {

/// As mbind and set_mempolicy take it.
struct MemoryPolicy {
  std::int32_t mode = 0;             ///< MPOL_*, with its flags; 0: none of its own
  std::vector<std::uint32_t> nodes;  ///< ascending
  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// As numa_maps says it: "default", "bind:0-1", "prefer (many)=static:1", "interleave=relative:0,2". Nothing: it is not
/// understood. Balancing is left out: the kernel takes it with set_mempolicy only.
std::optional<MemoryPolicy> parse_policy(std::string_view text);
/// What parse_policy() reads.
std::string policy_text(const MemoryPolicy& policy);
/// The same with other nodes: `here` of each; one that is nowhere is left out. Nothing: it had nodes, and all are
/// nowhere.
std::optional<MemoryPolicy> on_nodes(const MemoryPolicy& policy,
                                     const std::function<std::optional<std::uint32_t>(std::uint32_t)>& here);
/// Bit n of the whole is node n, as calls take it: as many words as the kernel's largest mask has.
std::vector<std::uint64_t> node_words(const std::vector<std::uint32_t>& nodes);

}  // namespace perdure::process
