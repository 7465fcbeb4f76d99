#pragma once
// Defines boxes of indices. Pure.
#include <array>
#include <cstdint>
#include <string>

namespace perdure::track {

inline constexpr unsigned kMostDimensions = 5;

/// The elements whose index is at least `begin` and below `end` in each dimension; halos have negative indices. A box
/// without dimensions is one element, a scalar.
struct Box {
  unsigned dimensions = 0;
  std::array<std::int64_t, kMostDimensions> begin{}, end{};
  bool empty() const;
  /// Below 2^63 for every box that declare() of a tracker accepted.
  std::uint64_t elements() const;
  bool contains(const Box& other) const;
  std::string text() const;  ///< for example "[-2:100, 0:40]"
  friend bool operator==(const Box&, const Box&) = default;
};

/// Returns the elements that both have; may be empty. Both must have the same number of dimensions.
Box intersection(const Box& a, const Box& b);

}  // namespace perdure::track
