#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

namespace tealeaf {
namespace {

// Returns how many eigenvalues of the symmetric tridiagonal matrix are below `x` (Sturm's sequence).
std::size_t count_below(std::span<const double> diagonal, std::span<const double> beside, double x) {
  std::size_t count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    pivot = diagonal[i] - x - (i == 0 ? 0 : beside[i] * beside[i] / pivot);
    if (pivot == 0) pivot = 1e-300;
    if (pivot < 0) ++count;
  }
  return count;
}

// Returns the eigenvalue that has `below` smaller ones, by bisection to the last bit.
double eigenvalue(std::span<const double> diagonal, std::span<const double> beside, std::size_t below, double low,
                  double high) {
  for (int i = 0; i < 2000; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (count_below(diagonal, beside, middle) > below ? high : low) = middle;
  }
  return low;
}

}  // namespace

Spectrum spectrum_of(std::span<const double> alphas, std::span<const double> betas) {
  const std::size_t count = alphas.size();
  if (count == 0) return {};
  std::vector<double> diagonal(count), beside(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    diagonal[i] = 1 / alphas[i] + (i == 0 ? 0 : betas[i - 1] / alphas[i - 1]);
    if (i > 0) beside[i] = std::sqrt(betas[i - 1]) / alphas[i - 1];
  }
  double low = diagonal[0], high = diagonal[0];  // Gershgorin's circles
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = beside[i] + (i + 1 < count ? beside[i + 1] : 0);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  const double least = eigenvalue(diagonal, beside, 0, low, high);
  const double most = eigenvalue(diagonal, beside, count - 1, low, high);
  return {least > 0 && std::isfinite(most), 0.95 * least, 1.05 * most};
}

std::vector<ChebyshevStep> chebyshev_steps(const Spectrum& spectrum, std::size_t count) {
  const double delta = (spectrum.most - spectrum.least) / 2, sigma = spectrum.theta() / delta;
  std::vector<ChebyshevStep> steps;
  double rho = 1 / sigma;
  for (std::size_t i = 0; i < count; ++i) {
    const double next = 1 / (2 * sigma - rho);
    steps.push_back({next * rho, 2 * next / delta});
    rho = next;
  }
  return steps;
}

}  // namespace tealeaf
