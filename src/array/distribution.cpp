#include "array/distribution.hpp"

#include <algorithm>
#include <limits>

namespace perdure::array {
namespace {

// Returns the begin of the part with this number: extent * number / parts, without overflow.
std::uint64_t beginning(std::uint64_t extent, std::uint64_t number, std::uint64_t parts) {
  const std::uint64_t each = extent / parts, rest = extent % parts;
  // The product of two 64-bit numbers may have 128 bits.
  __extension__ using Wide = unsigned __int128;
  return each * number + static_cast<std::uint64_t>(static_cast<Wide>(rest) * number / parts);
}

std::vector<std::uint64_t> prime_factors(std::uint64_t number) {
  std::vector<std::uint64_t> factors;
  for (std::uint64_t prime = 2; prime <= number / prime; ++prime)
    for (; number % prime == 0; number /= prime) factors.push_back(prime);
  if (number > 1) factors.push_back(number);
  return factors;
}

/// Returns the intervals of one dimension that one coordinate of the grid has.
std::vector<std::pair<std::uint64_t, std::uint64_t>> dealt(std::uint64_t extent, std::uint64_t length,
                                                           std::uint64_t coordinate, std::uint64_t ranks) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
  const std::uint64_t blocks = extent / length + (extent % length != 0 ? 1 : 0);
  for (std::uint64_t block = coordinate; block < blocks; block += ranks)
    intervals.emplace_back(block * length, std::min(extent - block * length, length) + block * length);
  return intervals;
}

}  // namespace

std::uint64_t Grid::size() const {
  std::uint64_t product = 1;
  for (unsigned d = 0; d < dimensions; ++d) product *= ranks[d];
  return product;
}

Index Grid::coordinates(std::uint64_t rank) const {
  Index at{};
  for (unsigned d = dimensions; d > 0; --d) {
    at[d - 1] = rank % ranks[d - 1];
    rank /= ranks[d - 1];
  }
  return at;
}

Grid even_grid(const Box& whole, std::uint64_t ranks) {
  Grid grid;
  grid.dimensions = std::max(whole.dimensions, 1U);
  for (unsigned d = 0; d < grid.dimensions; ++d) grid.ranks[d] = 1;
  auto factors = prime_factors(ranks);
  std::sort(factors.rbegin(), factors.rend());
  for (const std::uint64_t factor : factors) {
    unsigned longest = 0;
    for (unsigned d = 1; d < whole.dimensions; ++d)
      if (whole.extent(d) / grid.ranks[d] > whole.extent(longest) / grid.ranks[longest]) longest = d;
    grid.ranks[longest] *= factor;
  }
  return grid;
}

Box block(const Box& whole, const Grid& grid, std::uint64_t rank) {
  const Index at = grid.coordinates(rank);
  Box box = whole;
  for (unsigned d = 0; d < whole.dimensions; ++d) {
    box.begin[d] = whole.begin[d] + beginning(whole.extent(d), at[d], grid.ranks[d]);
    box.end[d] = whole.begin[d] + beginning(whole.extent(d), at[d] + 1, grid.ranks[d]);
  }
  return box;
}

base::Result<std::vector<Box>> block_cyclic(const Box& whole, const Grid& grid, const Index& lengths,
                                            std::uint64_t rank, std::size_t most, const std::string& object) {
  const Index at = grid.coordinates(rank);
  std::vector<Box> boxes{whole};
  for (unsigned d = 0; d < whole.dimensions; ++d) {
    if (lengths[d] == 0)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "blocks have no length in dimension " + std::to_string(d));
    const std::uint64_t blocks = whole.extent(d) / lengths[d] / grid.ranks[d] + 1;  // of this rank, or one too many
    if (blocks > most + 1)
      return base::fail(PERDURE_INVALID_ARGUMENT, object,
                        "a rank has " + std::to_string(blocks) + " blocks in dimension " + std::to_string(d),
                        "longer blocks: a rank may have " + std::to_string(most));
    const auto intervals = dealt(whole.extent(d), lengths[d], at[d], grid.ranks[d]);
    if (intervals.size() * boxes.size() > most)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "a rank has more than " + std::to_string(most) + " blocks",
                        "longer blocks");
    std::vector<Box> cut;
    for (const Box& box : boxes)
      for (const auto& [begin, end] : intervals) {
        Box part = box;
        part.begin[d] = whole.begin[d] + begin;
        part.end[d] = whole.begin[d] + end;
        cut.push_back(part);
      }
    boxes = std::move(cut);
  }
  return boxes;
}

}  // namespace perdure::array
