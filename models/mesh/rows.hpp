#pragma once
// Boxes of a data set, as bytes that travel: packed row by row, x fastest.
#include <cstddef>

#include "mesh/data.hpp"

namespace perdure::mesh {

inline std::size_t packed_bytes(const Dataset& set, const Box& box) {
  return static_cast<std::size_t>(box.elements()) * set.element_bytes();
}
/// The box, which this rank has with its ghosts, to `packed`, or from there. What is behind it there.
std::byte* pack(const Dataset& set, const Box& box, std::byte* packed);
const std::byte* unpack(const Dataset& set, const Box& box, const std::byte* packed);

}  // namespace perdure::mesh
