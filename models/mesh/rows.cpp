#include "mesh/rows.hpp"

#include <cstring>

namespace perdure::mesh {
namespace {

template <class Take>
void each_row(const Box& box, const Take& take) {
  if (box.empty()) return;
  Index at = box.begin;
  const std::int64_t ny = box.dimensions > 1 ? box.end[1] - box.begin[1] : 1;
  const std::int64_t nz = box.dimensions > 2 ? box.end[2] - box.begin[2] : 1;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y) {
      at[1] = box.begin[1] + y;
      at[2] = box.begin[2] + z;
      take(at);
    }
}

std::size_t row_bytes(const Dataset& set, const Box& box) {
  return static_cast<std::size_t>(box.end[0] - box.begin[0]) * set.element_bytes();
}

}  // namespace

std::byte* pack(const Dataset& set, const Box& box, std::byte* packed) {
  const std::size_t bytes = row_bytes(set, box);
  each_row(box, [&](const Index& at) {
    std::memcpy(packed, set.address(at), bytes);
    packed += bytes;
  });
  return packed;
}

const std::byte* unpack(const Dataset& set, const Box& box, const std::byte* packed) {
  const std::size_t bytes = row_bytes(set, box);
  each_row(box, [&](const Index& at) {
    std::memcpy(set.address(at), packed, bytes);
    packed += bytes;
  });
  return packed;
}

}  // namespace perdure::mesh
