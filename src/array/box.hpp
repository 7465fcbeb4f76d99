#pragma once
// Computes with boxes of indices: the parts of a global array that ranks have. Pure.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::array {

inline constexpr unsigned kMostDimensions = 8;  ///< of an array
/// One number for each dimension, and one more for the bytes of an element (in_bytes); those beyond are 0.
using Index = std::array<std::uint64_t, kMostDimensions + 1>;

/// The elements whose index is at least `begin` and below `end` in each dimension. The last dimension varies fastest.
/// Without dimensions it is one element: a scalar.
struct Box {
  unsigned dimensions = 0;
  Index begin{}, end{};
  std::uint64_t extent(unsigned dimension) const { return end[dimension] - begin[dimension]; }
  bool empty() const;
  /// It cannot overflow for a box inside of one that whole() made.
  std::uint64_t elements() const;
  /// Every box contains an empty one.
  bool contains(const Box& other) const;
  std::string text() const;  ///< "[0:100, 20:40]"
  friend bool operator==(const Box&, const Box&) = default;
};

/// Returns the box of a whole array. PERDURE_INVALID_ARGUMENT about `object`: more than 8 dimensions, elements of size
/// 0, or extents whose product, in bytes, is not below 2^63.
base::Result<Box> whole(std::span<const std::uint64_t> extents, std::uint64_t element_bytes, const std::string& object);

/// Returns the elements in both, which have as many dimensions; nothing if there are none.
std::optional<Box> intersection(const Box& a, const Box& b);

/// Returns the part of `box` outside of `cut`, which has as many dimensions: at most twice as many boxes, in no
/// particular order.
std::vector<Box> without(const Box& box, const Box& cut);

/// Returns a box with its ghosts: `ghosts` more indices on both sides of each dimension, but none outside of `within`,
/// which contains the box.
Box widened(const Box& box, const Index& ghosts, const Box& within);

/// Adds the bytes of its elements as a last dimension, for callers that cut anywhere, even within elements.
Box in_bytes(const Box& box, std::uint64_t element_bytes);

/// Returns the elements number `first` to `last` - 1 of a box, in its order, as boxes in that order: at most 2 *
/// dimensions - 1.
std::vector<Box> between(const Box& box, std::uint64_t first, std::uint64_t last);

}  // namespace perdure::array
