#pragma once
// Describes a segment that a version has, or will have, in the store.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace perdure::ipc {

struct PlannedSegment {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;
  PERDURE_FIELDS(index, count, ranks)
  std::string wrong() const { return index < count ? "" : "field 'index': a segment's index is not below its count"; }
};

/// True if each of `ranks` ranks is in exactly one of them, once.
inline bool cover_all(const std::vector<PlannedSegment>& segments, std::uint32_t ranks) {
  std::vector<std::uint32_t> all;
  for (const auto& segment : segments) all.insert(all.end(), segment.ranks.begin(), segment.ranks.end());
  std::sort(all.begin(), all.end());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != rank) return false;
  return all.size() == ranks;
}

}  // namespace perdure::ipc
