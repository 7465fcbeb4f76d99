#include "flow_operator.hpp"

#include <cmath>
#include <numbers>

namespace kernels {
namespace {

constexpr double kFlow = 0.2, kExchange = 0.01;

// The matrix is symmetric, and couples all five quantities.
Matrix5 carry(std::size_t d) {
  Matrix5 matrix{};
  for (std::size_t i = 0; i < kFive; ++i)
    for (std::size_t j = 0; j < kFive; ++j)
      matrix[i][j] = std::cos(0.7 * static_cast<double>((d + 1) * (i + 1) * (j + 1)));
  return matrix;
}

// Moves each of the five towards the mean of all.
Matrix5 exchange() {
  Matrix5 matrix{};
  for (std::size_t i = 0; i < kFive; ++i)
    for (std::size_t j = 0; j < kFive; ++j) matrix[i][j] = kExchange / 3 * (i == j ? 4 : -1);
  return matrix;
}

void add(Vector5& to, double factor, const Vector5& what) {
  for (std::size_t i = 0; i < kFive; ++i) to[i] += factor * what[i];
}

}  // namespace

FlowOperator::FlowOperator(std::int64_t edge)
    : n_(edge), carries_{carry(0), carry(1), carry(2)}, exchange_(exchange()) {
  for (std::size_t i = 0; i < wave_.size(); ++i)
    wave_[i] = kFlow * (1 + 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kWave));
}

double FlowOperator::least_eigenvalue() const {
  return 12 * std::pow(std::sin(std::numbers::pi / (2 * static_cast<double>(n_ + 1))), 2);
}

Vector5 FlowOperator::apply(const Array<Vector5>& u, std::int64_t x, std::int64_t y, std::int64_t z) const {
  const std::array<std::int64_t, 3> point = {x, y, z};
  const std::int64_t here = (z * n_ + y) * n_ + x;
  Vector5 all{};
  for (std::size_t d = 0; d < 3; ++d) {
    Vector5 carried{};
    add(all, 2, u[here]);
    add_product(all, 1, exchange_, u[here]);
    if (point[d] > 0) {
      add(all, -1, u[here - stride(d)]);
      add(carried, -flow(d, point), u[here - stride(d)]);
    }
    if (point[d] + 1 < n_) {
      auto next = point;
      ++next[d];
      add(all, -1, u[here + stride(d)]);
      add(carried, flow(d, next), u[here + stride(d)]);
    }
    add_product(all, 1, carries_[d], carried);
  }
  return all;
}

FlowOperator::Row FlowOperator::row(std::size_t d, std::array<std::int64_t, 3> point, double time_step) const {
  const double before = -flow(d, point);
  ++point[d];
  const double after = flow(d, point);
  Row row;
  for (std::size_t i = 0; i < kFive; ++i) {
    for (std::size_t j = 0; j < kFive; ++j) {
      row.before[i][j] = time_step * before * carries_[d][i][j];
      row.after[i][j] = time_step * after * carries_[d][i][j];
      row.here[i][j] = time_step * exchange_[i][j];
    }
    row.before[i][i] -= time_step;
    row.after[i][i] -= time_step;
    row.here[i][i] += 1 + 2 * time_step;
  }
  return row;
}

}  // namespace kernels
