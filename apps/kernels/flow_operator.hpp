#pragma once
#include <array>
#include <cstdint>

#include "array.hpp"
#include "blocks.hpp"

namespace kernels {

/// Advects, spreads and exchanges five quantities on a grid of edge^3 points, with 0 around it. L u = for each
/// direction d: -(second difference of u) + flow (a S_d u) + K / 3 u. The flow is antisymmetric and K is positive, so u
/// L u >= least_eigenvalue() u u.
class FlowOperator {
 public:
  explicit FlowOperator(std::int64_t edge);
  std::int64_t edge() const { return n_; }
  double least_eigenvalue() const;
  /// Returns L u at a point.
  Vector5 apply(const Array<Vector5>& u, std::int64_t x, std::int64_t y, std::int64_t z) const;
  /// Returns the blocks of (1 + time_step L_d) for a point and its neighbours before and after it, along direction d.
  struct Row {
    Matrix5 before, here, after;
  };
  Row row(std::size_t d, std::array<std::int64_t, 3> point, double time_step) const;
  /// Returns the distance in an array of all points.
  std::int64_t stride(std::size_t d) const { return d == 0 ? 1 : d == 1 ? n_ : n_ * n_; }

 private:
  static constexpr std::int64_t kWave = 64;
  /// Returns a / 2 between a point and the one before it, as a ratio of flow to spreading.
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
