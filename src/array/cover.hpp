#pragma once
// Checks that the boxes of all ranks are exactly a global array: every element has an owner, and none has two. Pure.
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
  std::uint32_t first = 0, second = 0;  ///< ranks; the same if one rank's boxes overlap
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

struct Cover {
  /// A box without owner: of all such boxes, the one that holds the first missing element.
  std::optional<Box> hole;
  /// Boxes with two owners: together all elements with more than one. For more than two owners there is an entry for
  /// the first with each of the others. An entry has a rank with itself if its own boxes follow each other.
  std::vector<Overlap> overlaps;
  bool all_overlaps = true;  ///< false: there are more than asked for; the search ended there, for holes, too
};

/// `owned` lie inside of `whole`. Cuts it along edges of the boxes until every part has one owner, or none, or lies in
/// all boxes that touch it. It takes some n log n steps for n boxes of a grid.
Cover cover(const Box& whole, const std::vector<Owned>& owned, std::size_t most_overlaps);

}  // namespace perdure::array
