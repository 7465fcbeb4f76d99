#pragma once
#include <array>
#include <cstdint>

#include "array.hpp"
#include "blocks.hpp"

namespace kernels {

/// Five quantities on a grid of edge^3 points, 0 around it, that are carried along, spread and exchanged:
/// L u = for each direction d: -(second difference of u) + flow (a S_d u) + K / 3 u. The flow is antisymmetric, K is
/// positive: u L u >= least_eigenvalue() u u.
class FlowOperator {
 public:
  explicit FlowOperator(std::int64_t edge);
  std::int64_t edge() const { return n_; }
  double least_eigenvalue() const;
  /// L u at a point.
  Vector5 apply(const Array<Vector5>& u, std::int64_t x, std::int64_t y, std::int64_t z) const;
  /// Blocks of (1 + time_step L_d) for a point and its neighbours before and after it, along direction d.
  struct Row {
    Matrix5 before, here, after;
  };
  Row row(std::size_t d, std::array<std::int64_t, 3> point, double time_step) const;
  /// How far one has to go in an array of all points.
  std::int64_t stride(std::size_t d) const { return d == 0 ? 1 : d == 1 ? n_ : n_ * n_; }

 private:
  static constexpr std::int64_t kWave = 64;
  /// a / 2 between a point and the one before it, by what makes the flow weaker than the spreading.
  double flow(std::size_t d, const std::array<std::int64_t, 3>& point) const {
    const std::int64_t along = point[0] + 2 * point[1] + 3 * point[2] + 5 * static_cast<std::int64_t>(d);
    return wave_[static_cast<std::size_t>(along % kWave)];
  }
  std::int64_t n_;
  std::array<Matrix5, 3> carries_;  // S
  Matrix5 exchange_;                // K / 3
  std::array<double, kWave> wave_;
};

}  // namespace kernels
