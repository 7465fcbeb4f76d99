#pragma once
// Describes how the elements of a box lie in memory or in a capture, and copies a part of it between two such places.
// Pure.
#include <array>
#include <cstdint>

#include "array/box.hpp"

namespace perdure::array {

/// In bytes, from one index to the next in each dimension; negative if an array is laid out backwards.
using Strides = std::array<std::int64_t, kMostDimensions + 1>;

/// The element with index i lies at offset + the sum of (i[d] - box.begin[d]) * strides[d].
struct Strided {
  Box box;
  Strides strides{};
  std::int64_t offset = 0;
  std::int64_t at(const Index& index) const;
};

/// Lays out one element behind the other, the last dimension fastest, as a capture has a box, from this byte on.
Strided packed(const Box& box, std::uint64_t element_bytes, std::int64_t offset);

/// Describes the bytes of its elements (in_bytes).
Strided in_bytes(const Strided& lies, std::uint64_t element_bytes);

/// A copy between two such places: equal runs of bytes, at distances in up to `dimensions` nested loops. The runs are
/// as long as both places permit.
struct StridedCopy {
  std::int64_t from = 0, to = 0;  ///< of the first run
  std::uint64_t bytes = 0;        ///< of each
  unsigned dimensions = 0;
  Index count{};  ///< of each loop; the last one is the innermost
  Strides from_step{}, to_step{};
  std::uint64_t runs() const;

  /// Calls `take(from, to, bytes)` for each run. The innermost loop follows `to`.
  template <class Take>
  void each(Take&& take) const {
    Index at{};
    std::int64_t source = from, target = to;
    if (runs() == 0) return;
    for (;;) {
      take(source, target, bytes);
      unsigned d = dimensions;
      for (; d > 0; --d) {
        source += from_step[d - 1];
        target += to_step[d - 1];
        if (++at[d - 1] < count[d - 1]) break;
        source -= from_step[d - 1] * static_cast<std::int64_t>(count[d - 1]);
        target -= to_step[d - 1] * static_cast<std::int64_t>(count[d - 1]);
        at[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }
};

/// Both boxes contain `part`.
StridedCopy strided_copy(const Box& part, std::uint64_t element_bytes, const Strided& from, const Strided& to);

}  // namespace perdure::array
