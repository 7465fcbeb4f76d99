#pragma once
// Records the segments of other versions that a version borrows: the store keeps them for it. Only the source of the
// bytes knows their meaning.
#include <vector>

#include "segment/manifest.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

struct Borrowed {
  std::uint64_t version = 0;  ///< of the same name
  FileName file;              ///< of the segment there
  /// Returns "7-0000-of-0001.<attempt hex>.pds".
  std::string text() const;
};
std::optional<Borrowed> parse_borrowed_segment(std::string_view text);

/// An entry has room for at most so many.
inline constexpr std::size_t kMostBorrowed = 32;
/// Records them in an entry; at most kMostBorrowed.
void set_borrowed(RegionEntry& entry, const std::vector<Borrowed>& segments);
/// Reads them from all entries. PERDURE_CORRUPT about `object` if they are malformed.
base::Result<std::vector<Borrowed>> borrowed_of(const Manifest& manifest, const std::string& object);

}  // namespace perdure::segment
