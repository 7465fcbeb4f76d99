#pragma once
// Finds the nodes of memory of a region's bytes, stores them as attributes of its entry, and reads them from there.
// Pure.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::affinity {

/// Consecutive bytes.
struct NodeRun {
  std::uint32_t node = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

/// Empty: unknown, or of no interest.
struct RegionNodes {
  std::vector<NodeRun> runs;  ///< together the region, or the part of it that repeats
  bool in_turn = false;       ///< the runs repeat
  bool known() const { return !runs.empty(); }
  friend bool operator==(const RegionNodes&, const RegionNodes&) = default;
};

/// Smaller regions are not worth a note, which has to be small beside its region.
inline constexpr std::uint64_t kLeastNotedBytes = 64 << 10;
inline constexpr std::uint32_t kMostNodes = 1024;  ///< numbers of nodes are below, as the kernel's

/// Asks for the nodes of pages, by their numbers in the region; below 0: nowhere.
using AskNodes = std::function<void(std::span<const std::uint64_t> pages, std::span<int> nodes)>;
/// Examines a region of so many bytes whose first page has only `first_bytes` of it. It asks for one page in 64, and
/// all between two whose answers differ. A page that is nowhere counts to those before it, or to those behind if there
/// are none. If the nodes change more often than an entry has room for, the result is right for most pages. Then it has
/// nodes in turn, or runs of more pages than one.
RegionNodes find_region_nodes(std::uint64_t bytes, std::uint64_t first_bytes, std::uint64_t page_bytes,
                              const AskNodes& ask);

/// Bytes [begin, begin + bytes) of a region: whole pages of it, as it lies in memory now.
struct NodePart {
  std::uint64_t begin = 0, bytes = 0;
  std::uint32_t node = 0;
  friend bool operator==(const NodePart&, const NodePart&) = default;
};
/// Places the same region, or one of that size that lies otherwise in its pages: a page goes where its last byte was.
std::vector<NodePart> pages_on_nodes(const RegionNodes& nodes, std::uint64_t bytes, std::uint64_t first_bytes,
                                     std::uint64_t page_bytes);

/// Stores them as optional attributes (docs/format/segment.md).
void note(const RegionNodes& nodes, segment::Attributes& attributes);
/// Reads them from an entry; empty if it has none, or they are invalid.
RegionNodes nodes_of(const segment::RegionEntry& entry);

}  // namespace perdure::affinity
