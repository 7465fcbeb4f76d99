#include "bt.hpp"

#include <cmath>

#include "random.hpp"

namespace kernels {
namespace {

constexpr double kAlmostSteady = 1e-10;

double squares(const Vector5& vector) {
  double all = 0;
  for (const double value : vector) all += value * value;
  return all;
}

Vector5 difference(const Vector5& one, const Vector5& other) {
  Vector5 result;
  for (std::size_t i = 0; i < kFive; ++i) result[i] = one[i] - other[i];
  return result;
}

}  // namespace

// The block after each point of a line, during the elimination of the points before it.
struct BlockTridiagonal::Line {
  explicit Line(std::int64_t edge) : after(static_cast<std::size_t>(edge)) {}
  std::vector<Matrix5> after;
};

// Short time steps damp short waves, long steps damp long ones, so they alternate.
BlockTridiagonal::BlockTridiagonal(std::int64_t edge)
    : operator_(edge), u_(edge, edge * edge), source_(edge, edge * edge), change_(edge, edge * edge) {
  const double longest = static_cast<double>(edge * edge) / 20;
  for (double time_step = 0.4; time_step <= longest || time_steps_.size() < 2; time_step *= 3)
    time_steps_.push_back(time_step);
  begin();
}

template <class Body>
void BlockTridiagonal::each_point(const Body& body) {
  const std::int64_t plane = operator_.edge() * operator_.edge();
  each(operator_.edge(), [&](std::int64_t z) {
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i) body(i);
  });
}

template <class Term>
double BlockTridiagonal::sum_of(const Term& term) {
  const std::int64_t n = operator_.edge();
  return sum(n, [&](std::int64_t z) {
    double all = 0;
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) all += term((z * n + y) * n + x, x, y, z);
    return all;
  });
}

Vector5 BlockTridiagonal::solution(std::int64_t point) const {
  Vector5 drawn;
  for (std::size_t i = 0; i < kFive; ++i)
    drawn[i] = random_signed(6000 + problem_, point * 5 + static_cast<std::int64_t>(i));
  return drawn;
}

// Sets the source to L of the solution, so that u no longer changes once it is the solution.
void BlockTridiagonal::begin() {
  ++problem_;
  steps_ = 0;
  each_point([&](std::int64_t i) { u_[i] = solution(i), source_[i] = {}; });
  first_norm_ = std::sqrt(find_change());
  each_point([&](std::int64_t i) { u_[i] = {}, source_[i] = difference({}, change_[i]); });
  norm_ = 1;
}

// Returns the sum of squares of source - L u.
double BlockTridiagonal::find_change() {
  return sum_of([&](std::int64_t i, std::int64_t x, std::int64_t y, std::int64_t z) {
    change_[i] = difference(source_[i], operator_.apply(u_, x, y, z));
    return squares(change_[i]);
  });
}

void BlockTridiagonal::step() {
  if (norm_ < kAlmostSteady) begin();
  const double time_step = time_steps_[static_cast<std::size_t>(steps_++) % time_steps_.size()];
  find_change();
  for (std::size_t d = 0; d < 3; ++d) solve_lines(d, time_step);
  each_point([&](std::int64_t i) {
    for (std::size_t k = 0; k < kFive; ++k) u_[i][k] += time_step * change_[i][k];
  });
  norm_ = std::sqrt(find_change()) / first_norm_;
}

void BlockTridiagonal::solve_lines(std::size_t d, double time_step) {
  const std::int64_t n = operator_.edge();
  each(n, [&](std::int64_t plane) {
    Line line(n);
    for (std::int64_t other = 0; other < n; ++other) {
      if (d == 0) solve_line(d, {0, other, plane}, time_step, line);
      if (d == 1) solve_line(d, {other, 0, plane}, time_step, line);
      if (d == 2) solve_line(d, {other, plane, 0}, time_step, line);
    }
  });
}

void BlockTridiagonal::solve_line(std::size_t d, std::array<std::int64_t, 3> point, double time_step, Line& line) {
  const std::int64_t n = operator_.edge(), stride = operator_.stride(d);
  const std::int64_t first = (point[2] * n + point[1]) * n + point[0];
  for (std::int64_t i = 0; i < n; ++i, ++point[d]) {
    FlowOperator::Row row = operator_.row(d, point, time_step);
    Vector5& here = change_[first + i * stride];
    if (i > 0) {
      subtract_product(row.here, row.before, line.after[static_cast<std::size_t>(i - 1)]);
      add_product(here, -1, row.before, change_[first + (i - 1) * stride]);
    }
    solve(row.here, row.after, here);
    line.after[static_cast<std::size_t>(i)] = row.after;
  }
  for (std::int64_t i = n - 2; i >= 0; --i)
    add_product(change_[first + i * stride], -1, line.after[static_cast<std::size_t>(i)],
                change_[first + (i + 1) * stride]);
}

// The change is L times the error. Its ratio to the error is at least the least eigenvalue of L, which bounds the
// error.
std::string BlockTridiagonal::verify() {
  const double change = std::sqrt(find_change());
  if (!(std::abs(change / first_norm_ - norm_) <= 1e-12)) return "the residual is not what it was after the step";
  if (!(norm_ < 1)) return "the residual has not become smaller";
  const double error =
      std::sqrt(sum_of([&](std::int64_t i, auto...) { return squares(difference(u_[i], solution(i))); }));
  if (!(error <= (1.0001 * change + 1e-13 * first_norm_) / operator_.least_eigenvalue()))
    return "u is farther from the known solution than its residual allows";
  return "";
}

}  // namespace kernels
