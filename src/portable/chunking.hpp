#pragma once
// Computes the regular grid of chunks in which other formats keep an array, and the order in which it is written. Pure.
#include <vector>

#include "array/box.hpp"
#include "base/result.hpp"

namespace perdure::portable {

/// Gives the extents of a chunk of at most `most_bytes`, or of one element. They are parts of a rank's stored box
/// (`typical`) if that is large enough, so that a chunk is read from one rank. None is 0, or beyond the array's unless
/// that is 0.
array::Index chunk_extents(const array::Box& whole, const array::Box& typical, std::uint64_t element_bytes,
                           std::uint64_t most_bytes);

/// The chunks that begin in one stored box: their number, and each of them.
class ChunkGrid {
 public:
  ChunkGrid(const array::Box& whole, const array::Index& extents) : whole_(whole), extents_(extents) {}
  std::uint64_t chunks() const;
  /// Gives, for an index in the array, the number of its chunk in each dimension.
  array::Index number(const array::Index& at) const;
  /// Calls `take(chunk)`, cut off at the array's ends, for each that begins in `stored`; ends with its first error.
  template <class Take>
  base::Status each_in(const array::Box& stored, Take&& take) const {
    array::Index first{}, last{}, at{};
    for (unsigned d = 0; d < whole_.dimensions; ++d) {
      first[d] = at[d] = (stored.begin[d] + extents_[d] - 1) / extents_[d];
      last[d] = (stored.end[d] + extents_[d] - 1) / extents_[d];
      if (first[d] >= last[d]) return {};
    }
    for (;;) {
      PERDURE_CHECK(take(chunk(at)));
      unsigned d = whole_.dimensions;
      for (; d > 0; --d) {
        if (++at[d - 1] < last[d - 1]) break;
        at[d - 1] = first[d - 1];
      }
      if (d == 0) return {};
    }
  }

 private:
  array::Box chunk(const array::Index& number) const;
  array::Box whole_;
  array::Index extents_;
};

}  // namespace perdure::portable
