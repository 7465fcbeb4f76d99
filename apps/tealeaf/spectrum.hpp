#pragma once
// The least and the greatest eigenvalue, as CG's coefficients tell them, and the polynomial that they give. Pure.
#include <span>
#include <vector>

namespace tealeaf {

/// Of A, or of M^-1 A.
struct Spectrum {
  bool known = false;
  double least = 0, most = 0;  ///< with a margin
  double theta() const { return (most + least) / 2; }
  double condition() const { return most / least; }
};

/// Of the Lanczos matrix of as many iterations of CG as there are coefficients. Unknown where it is not positive.
Spectrum spectrum_of(std::span<const double> alphas, std::span<const double> betas);

/// A step of Chebyshev's iteration: new direction = a * old direction + b * residual.
struct ChebyshevStep {
  double a, b;
};
std::vector<ChebyshevStep> chebyshev_steps(const Spectrum& spectrum, std::size_t count);

}  // namespace tealeaf
