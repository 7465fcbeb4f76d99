#pragma once
// Cuts a box into small boxes, one behind the other in its order. Pure.
#include <vector>

#include "array/box.hpp"

namespace perdure::reader {

/// Calls `take(slab)` for boxes of at most `most` elements, or of one. Ends with the first failing call, and returns
/// its error.
template <class Take>
base::Status each_slab(const array::Box& box, std::uint64_t most, Take&& take) {
  if (box.empty()) return {};
  // Fits whole rows of all dimensions behind this one.
  std::uint64_t rows = box.elements(), row = 1, extent = rows;
  for (unsigned d = box.dimensions; d > 0; --d) {
    extent = box.extent(d - 1);
    rows = box.elements() / row;
    if (extent > most / row) break;
    if (d > 1) row *= extent;
  }
  const std::uint64_t at_once = std::max<std::uint64_t>(1, most / row);
  for (std::uint64_t at = 0; at < rows;) {
    const std::uint64_t count = std::min(at_once, extent - at % extent);
    for (const array::Box& slab : array::between(box, at * row, (at + count) * row)) PERDURE_CHECK(take(slab));
    at += count;
  }
  return {};
}

}  // namespace perdure::reader
