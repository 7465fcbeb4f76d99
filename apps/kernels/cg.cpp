#include "cg.hpp"

#include <cmath>

#include "random.hpp"

namespace kernels {
namespace {

constexpr std::int64_t kRowsOfBlock = 1024;  // whose terms are added as one part of a sum
constexpr double kSolved = 1e-10;

}  // namespace

ConjugateGradients::ConjugateGradients(std::int64_t rows)
    : rows_(rows),
      blocks_((rows + kRowsOfBlock - 1) / kRowsOfBlock),
      a_(rows),
      x_(blocks_, kRowsOfBlock),
      b_(blocks_, kRowsOfBlock),
      r_(blocks_, kRowsOfBlock),
      p_(blocks_, kRowsOfBlock),
      q_(blocks_, kRowsOfBlock) {
  begin();
}

template <class Term>
double ConjugateGradients::sum_of(const Term& term) const {
  return sum(blocks_, [&](std::int64_t block) {
    double all = 0;
    const std::int64_t end = std::min(rows_, (block + 1) * kRowsOfBlock);
    for (std::int64_t i = block * kRowsOfBlock; i < end; ++i) all += term(i);
    return all;
  });
}

template <class Body>
void ConjugateGradients::each_row(const Body& body) const {
  each(blocks_, [&](std::int64_t block) {
    const std::int64_t end = std::min(rows_, (block + 1) * kRowsOfBlock);
    for (std::int64_t i = block * kRowsOfBlock; i < end; ++i) body(i);
  });
}

double ConjugateGradients::solution(std::int64_t row) const { return random_signed(1000 + problem_, row); }

void ConjugateGradients::begin() {
  ++problem_;
  each_row([&](std::int64_t i) { q_[i] = solution(i); });
  each_row([&](std::int64_t i) {
    x_[i] = 0;
    b_[i] = r_[i] = p_[i] = a_.times(i, q_);
  });
  squares_ = first_squares_ = sum_of([&](std::int64_t i) { return r_[i] * r_[i]; });
  energy_ = 0;
  energy_of_solution_ = sum_of([&](std::int64_t i) { return q_[i] * b_[i]; });
}

void ConjugateGradients::step() {
  if (squares_ < kSolved * kSolved * first_squares_) begin();
  const double curvature = sum_of([&](std::int64_t i) {
    q_[i] = a_.times(i, p_);
    return p_[i] * q_[i];
  });
  const double alpha = squares_ / curvature;
  const double squares = sum_of([&](std::int64_t i) {
    x_[i] += alpha * p_[i];
    r_[i] -= alpha * q_[i];
    return r_[i] * r_[i];
  });
  const double beta = squares / squares_;
  energy_ = sum_of([&](std::int64_t i) {
    p_[i] = r_[i] + beta * p_[i];
    return x_[i] * b_[i];
  });
  squares_ = squares;
}

double ConjugateGradients::norm() const { return std::sqrt(std::abs(1 - energy_ / energy_of_solution_)); }

// q is free between two steps.
std::string ConjugateGradients::verify() {
  each_row([&](std::int64_t i) { q_[i] = solution(i); });
  const auto square = [](double value) { return value * value; };
  if (!(sum_of([&](std::int64_t i) { return square(b_[i] - a_.times(i, q_)); }) <= 1e-24 * first_squares_))
    return "the right-hand side is not the matrix by the solution";
  const double wrong = sum_of([&](std::int64_t i) { return square(b_[i] - a_.times(i, x_) - r_[i]); });
  if (!(wrong <= 1e-20 * first_squares_)) return "the residual is not b - A x";
  const double along = sum_of([&](std::int64_t i) { return r_[i] * p_[i]; });
  if (!(std::abs(along - squares_) <= 1e-6 * squares_)) return "the direction does not go with the residual";
  // The method reduces the error in the matrix norm in each step.
  const double energy = sum_of([&](std::int64_t i) { return (q_[i] - x_[i]) * r_[i]; });
  if (!(energy < energy_of_solution_)) return "x is farther from the known solution than 0 is";
  return "";
}

}  // namespace kernels
