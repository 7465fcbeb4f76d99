#pragma once
#include "array.hpp"
#include "kernel.hpp"
#include "sparse_matrix.hpp"

namespace kernels {

/// Solves one system of equations after another by conjugate gradients, with the same matrix. The solutions are random
/// and therefore known.
class ConjugateGradients final : public Kernel {
 public:
  static double bytes(double rows) { return rows * (SparseMatrix::kRowBytes + 5 * sizeof(double)); }
  explicit ConjugateGradients(std::int64_t rows);
  void step() override;
  /// The error in the matrix norm, relative to that of 0. It is computed from x b, which grows with each step up to the
  /// solution's value. Below 1e-8 it is rounding.
  double norm() const override;
  std::string verify() override;
  void spoil() override { x_[rows_ / 2] += 1e-3; }

 private:
  void begin();
  double solution(std::int64_t row) const;
  template <class Term>
  double sum_of(const Term& term) const;
  template <class Body>
  void each_row(const Body& body) const;

  std::int64_t rows_, blocks_, problem_ = 0;
  SparseMatrix a_;
  Array<double> x_, b_, r_, p_, q_;             // q = A p
  double squares_ = 0, first_squares_ = 0;      // of the residual
  double energy_ = 0, energy_of_solution_ = 0;  // x b
};

}  // namespace kernels
