#pragma once
// Defines a block of an array of f8 that all ranks share. Each element holds its own number in the array, so that any
// reader knows its right value.
#include <vector>

#include "array/box.hpp"
#include "perdure/perdure.h"

namespace perdure::elastic_bench {

/// Allocates the block densely, divided evenly as by perdure_protect_block() without a grid.
class Field {
 public:
  Field(std::vector<std::uint64_t> extents, int ranks, int rank);
  /// Refers to this Field.
  perdure_array declaration() const;
  double* data() { return values_.data(); }
  std::uint64_t bytes() const { return values_.size() * sizeof(double); }
  void fill();
  /// Overwrites all of the memory, so that it is touched, as in a running program before a restore.
  void wipe();
  /// Returns the number of wrong elements.
  std::uint64_t wrong() const;

 private:
  /// Calls `use(at, count, number)` for each row along the last dimension: with its address, its length, and the
  /// array's number of its first element.
  template <class Use>
  void each_row(Use use) const;
  std::vector<std::uint64_t> extents_;
  array::Box whole_, mine_;
  std::vector<double> values_;
};

}  // namespace perdure::elastic_bench
