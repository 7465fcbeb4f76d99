#pragma once
// How the cells of a block are divided among ranks: as a grid of parts, as even as can be. Pure.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "track/box.hpp"

namespace perdure::mesh {

using track::Box;  ///< indices of a block's cells and nodes, x first; halos have negative ones

inline constexpr unsigned kMostBlockDimensions = 3;
using Index = std::array<std::int64_t, track::kMostDimensions>;
/// To a part in a grid of parts: -1 below, 0 or 1 above in each dimension.
using Direction = std::array<int, kMostBlockDimensions>;

/// From `begin` to before `end` in each dimension, x first.
Box box(std::initializer_list<std::array<std::int64_t, 2>> ranges);

class Division {
 public:
  /// Cells 0 to before `cells[d]` in 1 to 3 dimensions, in so many parts in each.
  Division(std::span<const std::int64_t> cells, const std::array<int, kMostBlockDimensions>& grid);
  unsigned dimensions() const { return dimensions_; }
  const std::array<int, kMostBlockDimensions>& grid() const { return grid_; }
  int ranks() const { return grid_[0] * grid_[1] * grid_[2]; }
  std::array<int, kMostBlockDimensions> position(int rank) const;
  /// The rank beside it in one dimension; -1 where the block ends.
  int neighbour(int rank, unsigned dimension, bool above) const;
  /// The same for those at corners, too.
  int neighbour(int rank, const Direction& direction) const;
  /// What of all indices is a rank's: its cells, and for those at an end of the block all that is beyond.
  Box part(int rank) const;
  /// The same in one dimension, of the parts at `at` there.
  std::array<std::int64_t, 2> interval(unsigned dimension, int at) const;

 private:
  unsigned dimensions_;
  std::array<std::int64_t, kMostBlockDimensions> cells_{1, 1, 1};
  std::array<int, kMostBlockDimensions> grid_;
};

}  // namespace perdure::mesh
