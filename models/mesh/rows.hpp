#pragma once
// Visits boxes of a data set row by row, x fastest, and packs them into bytes for messages.
#include <cstddef>

#include "mesh/data.hpp"

namespace perdure::mesh {

/// Calls `use` with the first index of each row of `box`.
template <class Use>
void each_row(const Box& box, const Use& use) {
  if (box.empty()) return;
  Index at = box.begin;
  const std::int64_t ny = box.dimensions > 1 ? box.end[1] - box.begin[1] : 1;
  const std::int64_t nz = box.dimensions > 2 ? box.end[2] - box.begin[2] : 1;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y) {
      at[1] = box.begin[1] + y;
      at[2] = box.begin[2] + z;
      use(at);
    }
}

inline std::size_t packed_bytes(const Dataset& set, const Box& box) {
  return static_cast<std::size_t>(box.elements()) * set.element_bytes();
}
/// Copies the box, ghosts included, to `packed` or from it. Returns the end of the packed bytes.
std::byte* pack(const Dataset& set, const Box& box, std::byte* packed);
const std::byte* unpack(const Dataset& set, const Box& box, const std::byte* packed);

}  // namespace perdure::mesh
