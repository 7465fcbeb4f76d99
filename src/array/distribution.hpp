#pragma once
// Divides an array among ranks in the usual ways, as boxes. Pure.
#include <vector>

#include "array/box.hpp"

namespace perdure::array {

/// Ranks as a grid, the last dimension fastest: how many there are in each dimension of an array.
struct Grid {
  unsigned dimensions = 0;
  Index ranks{};
  std::uint64_t size() const;
  Index coordinates(std::uint64_t rank) const;  ///< of a rank below size()
};

/// Returns the most even grid of so many ranks for this array: each prime factor goes to the dimension with the longest
/// blocks.
Grid even_grid(const Box& whole, std::uint64_t ranks);

/// Returns the block of one rank; the lengths of blocks differ by at most one.
Box block(const Box& whole, const Grid& grid, std::uint64_t rank);

/// Deals out blocks of `lengths` in turn in each dimension (ScaLAPACK's distribution, beginning at rank 0).
/// PERDURE_INVALID_ARGUMENT: a length is 0, or a rank would have more than `most` boxes.
base::Result<std::vector<Box>> block_cyclic(const Box& whole, const Grid& grid, const Index& lengths,
                                            std::uint64_t rank, std::size_t most, const std::string& object);

}  // namespace perdure::array
