#pragma once
#include <cstdint>

#include "array.hpp"

namespace kernels {

/// A symmetric, positive definite matrix of `rows` rows, with 16 elements in each at random places. It is
/// D (L + 1/100) D, where L is the Laplacian of a graph in which each row has 15 neighbours. D is a diagonal that makes
/// the solution hard.
class SparseMatrix {
 public:
  static constexpr std::int64_t kElements = 16;  ///< per row
  static constexpr double kRowBytes = kElements * (sizeof(double) + sizeof(std::uint32_t));
  explicit SparseMatrix(std::int64_t rows);
  /// Multiplies a row by a vector.
  double times(std::int64_t row, const Array<double>& vector) const {
    double all = 0;
    const std::int64_t first = row * kElements;
    for (std::int64_t k = first; k < first + kElements; ++k) all += values_[k] * vector[columns_[k]];
    return all;
  }

 private:
  void fill_row(std::int64_t row, const Array<std::uint32_t>& place, const Array<std::uint32_t>& row_at);
  std::int64_t rows_;
  Array<double> values_;
  Array<std::uint32_t> columns_;
};

}  // namespace kernels
