#pragma once
// Boxes of indices. Pure.
#include <array>
#include <cstdint>
#include <string>

namespace perdure::track {

inline constexpr unsigned kMostDimensions = 5;

/// The elements whose index is at least `begin` and below `end` in each dimension; halos have negative indices. Without
/// dimensions it is one element: a scalar.
struct Box {
  unsigned dimensions = 0;
  std::array<std::int64_t, kMostDimensions> begin{}, end{};
  bool empty() const;
  /// Below 2^63 for what declare() of a tracker took.
  std::uint64_t elements() const;
  bool contains(const Box& other) const;
  std::string text() const;  ///< "[-2:100, 0:40]"
  friend bool operator==(const Box&, const Box&) = default;
};

/// The elements that both have; may be empty. Both have as many dimensions.
Box intersection(const Box& a, const Box& b);

}  // namespace perdure::track
