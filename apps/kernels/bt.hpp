#pragma once
#include <vector>

#include "flow_operator.hpp"
#include "kernel.hpp"

namespace kernels {

/// Steps towards the steady state of five quantities, for one source after another. Each step solves along all lines of
/// a cube three times, with blocks of 5 x 5 (factored alternating directions). The states are random and therefore
/// known.
class BlockTridiagonal final : public Kernel {
 public:
  static double bytes(double edge) { return edge * edge * edge * 3 * sizeof(Vector5); }
  explicit BlockTridiagonal(std::int64_t edge);
  void step() override;
  /// The norm of the remaining change, relative to the source.
  double norm() const override { return norm_; }
  std::string verify() override;
  void spoil() override { u_[u_.size() / 2][2] += 1e-3; }

 private:
  struct Line;
  void begin();
  void solve_line(std::size_t d, std::array<std::int64_t, 3> point, double time_step, Line& line);
  void solve_lines(std::size_t d, double time_step);
  double find_change();
  Vector5 solution(std::int64_t point) const;
  template <class Body>
  void each_point(const Body& body);
  template <class Term>
  double sum_of(const Term& term);

  FlowOperator operator_;
  Array<Vector5> u_, source_, change_;
  std::vector<double> time_steps_;
  std::int64_t problem_ = 0, steps_ = 0;
  double first_norm_ = 0, norm_ = 1;
};

}  // namespace kernels
