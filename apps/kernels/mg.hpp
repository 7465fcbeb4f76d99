#pragma once
#include <vector>

#include "kernel.hpp"
#include "poisson_level.hpp"

namespace kernels {

/// Solves Poisson's equation in a periodic cube by multigrid cycles, for one right-hand side after another. The
/// solutions are random and therefore known, up to a constant.
class Multigrid final : public Kernel {
 public:
  static double bytes(double edge) { return edge * edge * edge * PoissonLevel::kPointBytes * 8 / 7; }
  explicit Multigrid(std::int64_t edge);
  void step() override;
  /// The norm of the residual, relative to the right-hand side.
  double norm() const override { return norm_; }
  std::string verify() override;
  void spoil() override { levels_[0].u[levels_[0].u.size() / 2] += 1e-3; }

 private:
  void begin();
  void cycle(std::size_t level);
  double solution(std::int64_t point) const;
  double sum_of_error(double less, bool squared) const;

  std::vector<PoissonLevel> levels_;
  std::int64_t problem_ = 0;
  double first_squares_ = 0, norm_ = 1;
};

}  // namespace kernels
