#pragma once
// Whether the boxes of all ranks are exactly a global array: no element without an owner, and where an element has
// two. Pure.
#include <cstddef>
#include <optional>
#include <vector>

#include "array/box.hpp"

namespace perdure::array {

struct Owned {
  Box box;
  std::uint32_t rank = 0;
};

struct Overlap {
  Box box;
  std::uint32_t first = 0, second = 0;  ///< ranks; the same when one rank's boxes overlap
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

struct Cover {
  /// A box that nobody has. Of all that are missing, the one that holds the first missing element.
  std::optional<Box> hole;
  /// Boxes with two owners: together all that have more than one, of those with more the first with each of the others,
  /// or a rank with itself where boxes of one follow each other.
  std::vector<Overlap> overlaps;
  bool all_overlaps = true;  ///< false: there are more than were asked for; the search ended there, for holes too
};

/// `owned` lie inside of `whole`. Cuts it along edges of the boxes until every part has one owner, or none, or is in
/// all the boxes that touch it: some n log n steps for n boxes of a grid.
Cover cover(const Box& whole, const std::vector<Owned>& owned, std::size_t most_overlaps);

}  // namespace perdure::array
