#include "mg.hpp"

#include <cmath>
#include <numbers>

#include "random.hpp"

namespace kernels {
namespace {

constexpr std::int64_t kCoarsestEdge = 14;  // maximum: it is solved by relaxation only
constexpr double kSmallResidual = 1e-10;

}  // namespace

Multigrid::Multigrid(std::int64_t edge) {
  std::int64_t coarsest = edge;
  while (coarsest % 4 == 0 && coarsest > 4) coarsest /= 2;
  if (coarsest % 2 != 0 || coarsest > kCoarsestEdge)
    throw WrongSize("an edge is 2, 3, 5 or 7 by a power of two, such as 256, 320 or 384");
  for (std::int64_t n = edge; n >= coarsest; n /= 2) levels_.emplace_back(n);
  begin();
}

double Multigrid::solution(std::int64_t point) const { return random_signed(2000 + problem_, point); }

void Multigrid::begin() {
  ++problem_;
  PoissonLevel& fine = levels_[0];
  const std::int64_t plane = fine.edge() * fine.edge();
  each(fine.edge(), [&](std::int64_t z) {
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i) fine.u[i] = solution(i), fine.f[i] = 0;
  });
  first_squares_ = fine.find_residual();
  each(fine.edge(), [&](std::int64_t z) {
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i) fine.u[i] = 0, fine.f[i] = -fine.r[i];
  });
  norm_ = 1;
}

void Multigrid::step() {
  if (norm_ < kSmallResidual) begin();
  cycle(0);
  norm_ = std::sqrt(levels_[0].find_residual() / first_squares_);
}

void Multigrid::cycle(std::size_t level) {
  PoissonLevel& here = levels_[level];
  if (level + 1 == levels_.size()) return here.relax(static_cast<int>(here.edge() * here.edge() / 3));
  here.relax(2);
  here.find_residual();
  here.restrict_to(levels_[level + 1]);
  cycle(level + 1);
  here.correct_from(levels_[level + 1]);
  here.relax(2);
}

double Multigrid::sum_of_error(double less, bool squared) const {
  const PoissonLevel& fine = levels_[0];
  const std::int64_t plane = fine.edge() * fine.edge();
  return sum(fine.edge(), [&](std::int64_t z) {
    double all = 0;
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i) {
      const double error = fine.u[i] - solution(i) - less;
      all += squared ? error * error : error;
    }
    return all;
  });
}

// The residual is the matrix times the error, and the least eigenvalue except 0 is known, which bounds the error.
std::string Multigrid::verify() {
  PoissonLevel& fine = levels_[0];
  const double residual = std::sqrt(fine.find_residual() / first_squares_);
  if (!(std::abs(residual - norm_) <= 1e-12)) return "the residual is not what it was after the step";
  if (!(residual < 1)) return "the residual has not become smaller";
  const double mean = sum_of_error(0, false) / static_cast<double>(fine.u.size());
  const double error = std::sqrt(sum_of_error(mean, true));
  const double eigenvalue = 4 * std::pow(std::sin(std::numbers::pi / static_cast<double>(fine.edge())), 2);
  if (!(error <= (1.0001 * residual + 1e-13) * std::sqrt(first_squares_) / eigenvalue))
    return "u is farther from the known solution than its residual allows";
  return "";
}

}  // namespace kernels
