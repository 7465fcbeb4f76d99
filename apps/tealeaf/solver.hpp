#pragma once
// Solves A u = u0 iteratively: by Jacobi's method, conjugate gradients, Chebyshev's, or conjugate gradients with
// Chebyshev's polynomial as their preconditioner.
#include <cstdint>
#include <vector>

#include "equation.hpp"
#include "spectrum.hpp"

namespace tealeaf {

struct Solved {
  double error = 0;  ///< relative to the initial one
  std::int64_t iterations = 0;
  std::int64_t inner_iterations = 0;
  bool converged = false;
};

class Solver {
 public:
  explicit Solver(Equation& equation);
  /// Call it after Equation::assemble().
  Solved solve();
  /// Found in the first solve, and kept.
  const Spectrum& spectrum() const { return spectrum_; }

 private:
  Solved jacobi();
  Solved conjugate_gradients();
  Solved chebyshev(std::int64_t n);
  Solved ppcg(std::int64_t n);
  bool converged() const { return error_ < deck_.epsilon * initial_; }
  Solved ended(std::int64_t iterations) const { return {error_ / initial_, iterations, inner_, converged()}; }

  void begin_cg();
  void cg_step();
  double update(double alpha);
  bool is_to_switch(std::int64_t n);
  double jacobi_step();
  void chebyshev_step(const ChebyshevStep& step);
  void add_direction(double theta);
  void polynomial();
  double ppcg_step();
  bool preconditioned() const { return deck_.preconditioner != Preconditioner::none; }
  Field& rest() { return preconditioned() ? *z_ : e_.r; }

  Equation& e_;
  const Deck& deck_;
  Field *z_ = nullptr, *sd_ = nullptr, *rtemp_ = nullptr, *utemp_ = nullptr, *r_store_ = nullptr;
  mesh::Reduction sum_, other_sum_;
  Spectrum spectrum_;
  std::vector<ChebyshevStep> steps_;
  // The state of one solve.
  std::vector<double> alphas_, betas_;
  double initial_ = 0, error_ = 0, old_error_ = 0, rro_ = 0;
  std::int64_t inner_ = 0;
};

}  // namespace tealeaf
