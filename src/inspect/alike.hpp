#pragma once
// Folds a version's content: ranks that protect the same share a line, and so do regions of the same size. Pure.
#include <cstdint>
#include <string>
#include <vector>

#include "reader/inventory.hpp"

namespace perdure::inspect {

struct Span {
  std::uint64_t least = 0, most = 0;
  void widen(std::uint64_t value);
};

/// Regions of one kind and element size, which have the same count on each rank alone, or on no rank.
struct AlikeRegions {
  std::vector<std::int64_t> ids;  ///< ascending
  segment::EntryKind kind = segment::EntryKind::memory;
  std::uint64_t element_bytes = 0;
  Span count;               ///< over the ranks
  std::uint64_t bytes = 0;  ///< bytes of all of them, on all the ranks
};

struct AlikeRanks {
  std::vector<std::int64_t> ranks;  ///< ascending
  std::vector<AlikeRegions> regions;
  std::uint64_t region_count = 0;  ///< on each rank
  std::uint64_t chunks = 0;
  Span chunk_bytes;         ///< the chunk sizes that were asked for
  Span rank_bytes;          ///< bytes of one rank
  std::uint64_t bytes = 0;  ///< bytes of all ranks
};

/// Groups ranks with equal regions. When that makes more than `most` groups, ranks whose regions differ only in their
/// counts share a group, too. Ascending by the first rank.
std::vector<AlikeRanks> alike_ranks(const reader::VersionFacts& facts, std::size_t most);

/// Writes ascending numbers as ranges, "0-2,5"; beyond `most` ranges only the first and the last: "0,2,4,...,998".
std::string short_ranges(const std::vector<std::int64_t>& ascending, std::size_t most = 6);

}  // namespace perdure::inspect
