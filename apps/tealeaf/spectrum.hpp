#pragma once
// Estimates the least and the greatest eigenvalue from CG's coefficients, and the Chebyshev polynomial for them. Pure.
#include <span>
#include <vector>

namespace tealeaf {

/// The spectrum of A, or of M^-1 A.
struct Spectrum {
  bool known = false;
  double least = 0, most = 0;  ///< with a margin
  double theta() const { return (most + least) / 2; }
  double condition() const { return most / least; }
};

/// Returns the spectrum of the Lanczos matrix from these coefficients, one per iteration of CG. Unknown if it is not
/// positive.
Spectrum spectrum_of(std::span<const double> alphas, std::span<const double> betas);

/// A step of Chebyshev's iteration: new direction = a * old direction + b * residual.
struct ChebyshevStep {
  double a, b;
};
std::vector<ChebyshevStep> chebyshev_steps(const Spectrum& spectrum, std::size_t count);

}  // namespace tealeaf
