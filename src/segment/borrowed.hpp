#pragma once
// Versions that consist of other versions' bytes, too: the segments of these that the store keeps for them (borrowed).
// What the bytes mean only their source knows.
#include <vector>

#include "segment/manifest.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

struct Borrowed {
  std::uint64_t version = 0;  ///< of the same name
  FileName file;              ///< of the segment there
  /// "7-0000-of-0001.<attempt hex>.pds"
  std::string text() const;
};
std::optional<Borrowed> parse_borrowed_segment(std::string_view text);

/// More than one entry has room for.
inline constexpr std::size_t kMostBorrowed = 32;
/// Says so of an entry; at most kMostBorrowed.
void set_borrowed(RegionEntry& entry, const std::vector<Borrowed>& segments);
/// What its entries say. PERDURE_CORRUPT about `object`: they say it wrongly.
base::Result<std::vector<Borrowed>> borrowed_of(const Manifest& manifest, const std::string& object);

}  // namespace perdure::segment
