#pragma once
#include "array.hpp"
#include "fourier.hpp"
#include "kernel.hpp"

namespace kernels {

/// A free particle's wave in a periodic cube, by Fourier transforms: each step turns the waves of which it is made by
/// their energies, and finds the wave in space by a transform. Nothing dies away, so that it can go on for ever.
class FourierWave final : public Kernel {
 public:
  static double bytes(double edge) { return edge * edge * edge * 2 * sizeof(Complex); }
  explicit FourierWave(std::int64_t edge);
  void step() override;
  /// Of the squares of the wave, by the number of points: how unevenly it lies in space.
  double norm() const override { return norm_; }
  std::string verify() override;
  void spoil() override { spectrum_[spectrum_.size() / 2].re += 1e-3; }

 private:
  /// The turn of a step has this number of different values: after any number of steps it is known exactly.
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
