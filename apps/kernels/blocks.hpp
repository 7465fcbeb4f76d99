#pragma once
// Computes with blocks of five unknowns.
#include <array>
#include <cstddef>

namespace kernels {

constexpr std::size_t kFive = 5;
using Vector5 = std::array<double, kFive>;
using Matrix5 = std::array<Vector5, kFive>;  ///< rows

/// to += factor * (matrix by vector)
inline void add_product(Vector5& to, double factor, const Matrix5& matrix, const Vector5& vector) {
  for (std::size_t i = 0; i < kFive; ++i) {
    double all = 0;
    for (std::size_t j = 0; j < kFive; ++j) all += matrix[i][j] * vector[j];
    to[i] += factor * all;
  }
}

/// to -= one by other
inline void subtract_product(Matrix5& to, const Matrix5& one, const Matrix5& other) {
  for (std::size_t i = 0; i < kFive; ++i)
    for (std::size_t k = 0; k < kFive; ++k)
      for (std::size_t j = 0; j < kFive; ++j) to[i][j] -= one[i][k] * other[k][j];
}

/// Replaces `block` and `right` by matrix^-1 times each, without pivoting: the diagonal is large.
inline void solve(Matrix5& matrix, Matrix5& block, Vector5& right) {
  for (std::size_t k = 0; k < kFive; ++k) {
    const double inverse = 1 / matrix[k][k];
    for (std::size_t j = k + 1; j < kFive; ++j) matrix[k][j] *= inverse;
    for (std::size_t j = 0; j < kFive; ++j) block[k][j] *= inverse;
    right[k] *= inverse;
    for (std::size_t i = 0; i < kFive; ++i) {
      if (i == k) continue;
      const double factor = matrix[i][k];
      for (std::size_t j = k + 1; j < kFive; ++j) matrix[i][j] -= factor * matrix[k][j];
      for (std::size_t j = 0; j < kFive; ++j) block[i][j] -= factor * block[k][j];
      right[i] -= factor * right[k];
    }
  }
}

}  // namespace kernels
