#pragma once
// Parses and converts memory policies: the nodes from which the kernel allocates memory. Pure.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::process {

/// In the form of mbind and set_mempolicy.
struct MemoryPolicy {
  std::int32_t mode = 0;             ///< MPOL_*, with its flags; 0: default
  std::vector<std::uint32_t> nodes;  ///< ascending
  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// Parses the text of numa_maps: "default", "bind:0-1", "prefer (many)=static:1", "interleave=relative:0,2". Returns
/// nothing if it is malformed. It ignores balancing, which only set_mempolicy accepts.
std::optional<MemoryPolicy> parse_policy(std::string_view text);
/// Returns the text that parse_policy() reads.
std::string policy_text(const MemoryPolicy& policy);
/// Replaces each node by `here` of it, and leaves out nodes that have no counterpart. Returns nothing if none of its
/// nodes has one.
std::optional<MemoryPolicy> on_nodes(const MemoryPolicy& policy,
                                     const std::function<std::optional<std::uint32_t>(std::uint32_t)>& here);
/// Returns the node mask for system calls: bit n is node n, with as many words as the kernel's largest mask.
std::vector<std::uint64_t> node_words(const std::vector<std::uint32_t>& nodes);

}  // namespace perdure::process
