#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace kernels {

/// A complex number whose products do not handle infinities, unlike std::complex.
struct Complex {
  double re, im;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  friend Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
  double square() const { return re * re + im * im; }
};

/// Returns e to the -2 pi i part / whole.
inline Complex root_of_unity(std::int64_t part, std::int64_t whole) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), -std::sin(angle)};
}

}  // namespace kernels
