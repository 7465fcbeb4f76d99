#include "mesh/rows.hpp"

#include <cstring>

namespace perdure::mesh {
namespace {

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
