#include "mesh/division.hpp"

#include <algorithm>
#include <limits>

namespace perdure::mesh {
namespace {

// Lies far outside every halo, and low enough that sums of indices do not overflow.
constexpr std::int64_t kBeyond = std::int64_t{1} << 60U;

}  // namespace

Box box(std::initializer_list<std::array<std::int64_t, 2>> ranges) {
  Box made;
  for (const auto& [begin, end] : ranges) {
    made.begin[made.dimensions] = begin;
    made.end[made.dimensions++] = end;
  }
  return made;
}

Division::Division(std::span<const std::int64_t> cells, const std::array<int, kMostBlockDimensions>& grid)
    : dimensions_(static_cast<unsigned>(cells.size())), grid_(grid) {
  std::copy(cells.begin(), cells.end(), cells_.begin());
}

std::array<int, kMostBlockDimensions> Division::position(int rank) const {
  return {rank % grid_[0], rank / grid_[0] % grid_[1], rank / grid_[0] / grid_[1]};
}

int Division::neighbour(int rank, unsigned dimension, bool above) const {
  Direction direction{};
  direction[dimension] = above ? 1 : -1;
  return neighbour(rank, direction);
}

int Division::neighbour(int rank, const Direction& direction) const {
  auto at = position(rank);
  for (unsigned d = 0; d < kMostBlockDimensions; ++d) {
    at[d] += direction[d];
    if (at[d] < 0 || at[d] >= grid_[d]) return -1;
  }
  return at[0] + grid_[0] * (at[1] + grid_[1] * at[2]);
}

std::array<std::int64_t, 2> Division::interval(unsigned dimension, int at) const {
  const std::int64_t parts = grid_[dimension], each = cells_[dimension] / parts, more = cells_[dimension] % parts;
  const auto begin = [&](std::int64_t part) { return part * each + std::min(part, more); };
  return {at == 0 ? -kBeyond : begin(at), at + 1 == parts ? kBeyond : begin(at + 1)};
}

Box Division::part(int rank) const {
  const auto at = position(rank);
  Box part;
  part.dimensions = dimensions_;
  for (unsigned d = 0; d < dimensions_; ++d) {
    const auto [begin, end] = interval(d, at[d]);
    part.begin[d] = begin;
    part.end[d] = end;
  }
  return part;
}

}  // namespace perdure::mesh
