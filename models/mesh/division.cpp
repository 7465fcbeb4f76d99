#include "mesh/division.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace perdure::mesh {
namespace {

// Far beyond every halo, and far from where sums of indices would overflow.
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

tl::expected<Division, std::string> Division::among(std::span<const std::int64_t> cells, int ranks,
                                                    std::int64_t least) {
  if (cells.empty() || cells.size() > kMostBlockDimensions)
    return tl::unexpected(std::string("a block has 1 to 3 dimensions"));
  Division made;
  made.dimensions_ = static_cast<unsigned>(cells.size());
  std::copy(cells.begin(), cells.end(), made.cells_.begin());
  const auto fits = [&](unsigned d, int parts) {
    return parts == 1 ? made.cells_[d] >= 1 : made.cells_[d] / parts >= std::max<std::int64_t>(least, 1);
  };
  // Cuts across x come last of equal ones: long rows are quick.
  std::optional<std::tuple<std::int64_t, int, int>> best;
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0 || !fits(0, x)) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      const int z = ranks / x / y;
      if (ranks / x % y != 0 || !fits(1, y) || !fits(2, z)) continue;
      const auto& [nx, ny, nz] = made.cells_;
      const std::tuple cut((x - 1) * ny * nz + (y - 1) * nx * nz + (z - 1) * nx * ny, x, y);
      if (best && *best <= cut) continue;
      best = cut;
      made.grid_ = {x, y, z};
    }
  }
  if (best) return made;
  std::string text;
  for (const auto count : cells) text += (text.empty() ? "" : " x ") + std::to_string(count);
  return tl::unexpected(text + " cells cannot be divided among " + std::to_string(ranks) + " ranks so that each has " +
                        std::to_string(least) + " or more in each dimension: take fewer ranks, or more threads");
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
