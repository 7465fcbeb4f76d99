#pragma once
// A block of an array of f8 that all ranks have together. Each element holds its own number in the array, so that
// whoever gets it back knows what it must be.
#include <vector>

#include "array/box.hpp"
#include "perdure/perdure.h"

namespace perdure::elastic_bench {

/// Dense and divided evenly, as perdure_protect_block() does it without a grid.
class Field {
 public:
  Field(std::vector<std::uint64_t> extents, int ranks, int rank);
  /// Refers to this Field.
  perdure_array declaration() const;
  double* data() { return values_.data(); }
  std::uint64_t bytes() const { return values_.size() * sizeof(double); }
  void fill();
  /// Touches all of the memory, as the restore of a program that runs already would find it.
  void wipe();
  /// How many elements are not what they must be.
  std::uint64_t wrong() const;

 private:
  /// Calls `use(at, count, number)` with each row along the last dimension: where it is, how long, and the number in
  /// the array of its first element.
  template <class Use>
  void each_row(Use use) const;
  std::vector<std::uint64_t> extents_;
  array::Box whole_, mine_;
  std::vector<double> values_;
};

}  // namespace perdure::elastic_bench
