#pragma once
// On which nodes of memory the bytes of a region are: found, kept as attributes of its entry, and read from there.
// Pure.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::affinity {

/// Bytes that follow each other.
struct NodeRun {
  std::uint32_t node = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

/// Nothing in it: it is not known, or all the same.
struct RegionNodes {
  std::vector<NodeRun> runs;  ///< together the region, or what of it comes again and again
  bool in_turn = false;       ///< they come again and again
  bool known() const { return !runs.empty(); }
  friend bool operator==(const RegionNodes&, const RegionNodes&) = default;
};

/// Smaller regions are not worth a note: what it takes is to be small beside what it is about.
inline constexpr std::uint64_t kLeastNotedBytes = 64 << 10;
inline constexpr std::uint32_t kMostNodes = 1024;  ///< numbers of nodes are below, as the kernel's

/// Asks where pages are, by their numbers in the region; below 0: nowhere.
using AskNodes = std::function<void(std::span<const std::uint64_t> pages, std::span<int> nodes)>;
/// Of a region of so many bytes whose first page has only `first_bytes` of it. One page in 64 is asked for, and all
/// between two whose answers differ. A page that is nowhere counts to those before it, or to those behind where there
/// are none. Where the nodes change more often than an entry has room for, what is said is what is right for most
/// pages: that nodes follow each other in turn, or runs of more pages than one.
RegionNodes find_region_nodes(std::uint64_t bytes, std::uint64_t first_bytes, std::uint64_t page_bytes,
                              const AskNodes& ask);

/// Bytes [begin, begin + bytes) of a region: whole pages of it, as it lies in memory now.
struct NodePart {
  std::uint64_t begin = 0, bytes = 0;
  std::uint32_t node = 0;
  friend bool operator==(const NodePart&, const NodePart&) = default;
};
/// The same region, or one of that size that lies otherwise in its pages: a page goes where its last byte was.
std::vector<NodePart> pages_on_nodes(const RegionNodes& nodes, std::uint64_t bytes, std::uint64_t first_bytes,
                                     std::uint64_t page_bytes);

/// As attributes that nobody has to know (docs/format/segment.md).
void note(const RegionNodes& nodes, segment::Attributes& attributes);
/// What an entry says; nothing known where it says nothing, or what cannot be.
RegionNodes nodes_of(const segment::RegionEntry& entry);

}  // namespace perdure::affinity
