#pragma once
// Makes random arrays, divisions and places, and visits every element of a box one by one, for tests.
#include <algorithm>
#include <random>
#include <vector>

#include "array/distribution.hpp"
#include "array/strided.hpp"

namespace perdure::array {

class AnyBoxes {
 public:
  explicit AnyBoxes(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance() { return below(2) == 0; }
  /// Draws one of 1 to 5 dimensions with up to `most` indices each.
  Box array(std::uint64_t most) {
    Box box;
    box.dimensions = static_cast<unsigned>(1 + below(5));
    for (unsigned d = 0; d < box.dimensions; ++d) box.end[d] = 1 + below(most);
    return box;
  }
  Box part(const Box& of) {
    Box box = of;
    for (unsigned d = 0; d < of.dimensions; ++d) {
      box.begin[d] = of.begin[d] + below(of.extent(d));
      box.end[d] = box.begin[d] + 1 + below(of.end[d] - box.begin[d]);
    }
    return box;
  }
  /// Returns the boxes of each of so many ranks: together exactly the array.
  std::vector<std::vector<Box>> division(const Box& of, std::uint64_t ranks) {
    std::vector<std::vector<Box>> boxes(ranks);
    const auto kind = below(3);
    const Grid grid = even_grid(of, ranks);
    Index lengths{};
    for (unsigned d = 0; d < of.dimensions; ++d) lengths[d] = 1 + below(of.extent(d));
    std::vector<std::uint64_t> offsets{0, of.extent(0)};
    for (std::uint64_t r = 1; r < ranks; ++r) offsets.push_back(below(of.extent(0) + 1));
    std::sort(offsets.begin(), offsets.end());
    for (std::uint64_t r = 0; r < ranks; ++r) {
      if (kind == 0) boxes[r] = {block(of, grid, r)};
      if (kind == 1) boxes[r] = block_cyclic(of, grid, lengths, r, 1U << 20, "test").value();
      if (kind == 2) {  // rows, a random number for each
        boxes[r] = {of};
        boxes[r][0].begin[0] = offsets[r];
        boxes[r][0].end[0] = offsets[r + 1];
      }
    }
    return boxes;
  }
  /// Lays out the box with room around it, in any order of the dimensions and any direction. Sets `bytes` to the size
  /// of the memory.
  Strided strided(const Box& box, std::uint64_t element_bytes, std::uint64_t& bytes) {
    std::vector<unsigned> order(box.dimensions);
    for (unsigned d = 0; d < box.dimensions; ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random_);
    Strided lies{box, {}, 0};
    auto stride = static_cast<std::int64_t>(element_bytes);
    for (const unsigned d : order) {
      lies.strides[d] = stride;
      stride *= static_cast<std::int64_t>(box.extent(d) + (chance() ? 0 : below(3)));
      if (!chance()) continue;
      lies.offset += lies.strides[d] * static_cast<std::int64_t>(box.extent(d) - 1);
      lies.strides[d] = -lies.strides[d];
    }
    bytes = static_cast<std::uint64_t>(stride);
    return lies;
  }

 private:
  std::mt19937_64 random_;
};

/// Calls `take(index)` for every element of a box that is not empty, in order.
template <class Take>
void each_element(const Box& box, Take&& take) {
  if (box.empty()) return;
  Index at = box.begin;
  for (;;) {
    take(at);
    unsigned d = box.dimensions;
    for (; d > 0; --d) {
      if (++at[d - 1] < box.end[d - 1]) break;
      at[d - 1] = box.begin[d - 1];
    }
    if (d == 0) return;
  }
}

}  // namespace perdure::array
