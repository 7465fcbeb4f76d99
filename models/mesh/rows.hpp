#pragma once
// Boxes as rows of x. Pure.
#include "mesh/division.hpp"

namespace perdure::mesh {

/// Calls `use` with the index where each row of `box` begins.
template <class Use>
void each_row(const Box& box, const Use& use) {
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

}  // namespace perdure::mesh
