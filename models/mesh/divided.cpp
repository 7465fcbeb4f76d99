#include "mesh/divided.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

namespace perdure::mesh {

tl::expected<Division, std::string> divided(std::span<const std::int64_t> cells, int ranks, std::int64_t least) {
  if (cells.empty() || cells.size() > kMostBlockDimensions)
    return tl::unexpected(std::string("a block has 1 to 3 dimensions"));
  std::array<std::int64_t, kMostBlockDimensions> all{1, 1, 1};
  std::copy(cells.begin(), cells.end(), all.begin());
  const auto fits = [&](unsigned d, int parts) {
    return parts == 1 ? all[d] >= 1 : all[d] / parts >= std::max<std::int64_t>(least, 1);
  };
  // Among grids of equal cost, those that do not cut x win, because long rows are fast.
  std::optional<std::tuple<std::int64_t, int, int>> best;
  std::array<int, kMostBlockDimensions> grid{};
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0 || !fits(0, x)) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      const int z = ranks / x / y;
      if (ranks / x % y != 0 || !fits(1, y) || !fits(2, z)) continue;
      const auto& [nx, ny, nz] = all;
      const std::tuple cut((x - 1) * ny * nz + (y - 1) * nx * nz + (z - 1) * nx * ny, x, y);
      if (best && *best <= cut) continue;
      best = cut;
      grid = {x, y, z};
    }
  }
  if (best) return Division(cells, grid);
  std::string text;
  for (const auto count : cells) text += (text.empty() ? "" : " x ") + std::to_string(count);
  return tl::unexpected(text + " cells cannot be divided among " + std::to_string(ranks) + " ranks so that each has " +
                        std::to_string(least) + " or more in each dimension: take fewer ranks, or more threads");
}

}  // namespace perdure::mesh
