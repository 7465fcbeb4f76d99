#pragma once
#include "array.hpp"
#include "fourier.hpp"
#include "kernel.hpp"

namespace kernels {

/// Computes a free particle's wave in a periodic cube by Fourier transforms. Each step multiplies the Fourier modes by
/// phases from their energies, and transforms the wave into space. The wave does not decay, so the kernel can run for
/// ever.
class FourierWave final : public Kernel {
 public:
  static double bytes(double edge) { return edge * edge * edge * 2 * sizeof(Complex); }
  explicit FourierWave(std::int64_t edge);
  void step() override;
  /// The mean of the fourth power of the wave: how unevenly it lies in space.
  double norm() const override { return norm_; }
  std::string verify() override;
  void spoil() override { spectrum_[spectrum_.size() / 2].re += 1e-3; }

 private:
  /// The phase of a step has this number of different values, so it is known exactly after any number of steps.
  static constexpr std::int64_t kTurns = 8191;
  void draw(Array<Complex>& space);
  template <class Body>
  void each_point(const Body& body);
  template <class Term>
  double sum_of(const Term& term);
  Complex turn(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t steps) const;

  std::int64_t edge_, steps_ = 0;
  Fourier fourier_;
  std::vector<Complex> turns_;
  Array<Complex> spectrum_, space_;
  double norm_ = 0;
};

}  // namespace kernels
