#pragma once
// Divides the cells of a block among ranks, as a grid of parts of nearly equal size. Pure.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "track/box.hpp"

namespace perdure::mesh {

using track::Box;  ///< indices of a block's cells and nodes, x first; negative in halos

inline constexpr unsigned kMostBlockDimensions = 3;
using Index = std::array<std::int64_t, track::kMostDimensions>;
/// The direction of another part in the grid: in each dimension -1 below, 0 level or 1 above.
using Direction = std::array<int, kMostBlockDimensions>;

/// Makes the box from `begin` to before `end` in each dimension, x first.
Box box(std::initializer_list<std::array<std::int64_t, 2>> ranges);

class Division {
 public:
  /// Divides cells 0 to before `cells[d]` into `grid[d]` parts in each of 1 to 3 dimensions.
  Division(std::span<const std::int64_t> cells, const std::array<int, kMostBlockDimensions>& grid);
  unsigned dimensions() const { return dimensions_; }
  const std::array<int, kMostBlockDimensions>& grid() const { return grid_; }
  int ranks() const { return grid_[0] * grid_[1] * grid_[2]; }
  std::array<int, kMostBlockDimensions> position(int rank) const;
  /// Returns the neighbour in one dimension, or -1 where the block ends.
  int neighbour(int rank, unsigned dimension, bool above) const;
  /// Returns the neighbour in any direction, also diagonal.
  int neighbour(int rank, const Direction& direction) const;
  /// Returns the indices of a rank: its cells and, at an end of the block, all indices outside of the block there.
  Box part(int rank) const;
  /// Returns the same in one dimension, for the parts at position `at`.
  std::array<std::int64_t, 2> interval(unsigned dimension, int at) const;

 private:
  unsigned dimensions_;
  std::array<std::int64_t, kMostBlockDimensions> cells_{1, 1, 1};
  std::array<int, kMostBlockDimensions> grid_;
};

}  // namespace perdure::mesh
