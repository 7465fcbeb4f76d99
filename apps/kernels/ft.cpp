#include "ft.hpp"

#include "random.hpp"

namespace kernels {
namespace {

double fourth_power(Complex value) { return value.square() * value.square(); }

}  // namespace

FourierWave::FourierWave(std::int64_t edge)
    : edge_(edge), fourier_(edge), spectrum_(edge, edge * edge), space_(edge, edge * edge) {
  if (!Fourier::can_have(edge)) throw WrongSize("an edge has no prime factors but 2, 3 and 5, such as 256, 300 or 320");
  for (std::int64_t i = 0; i < kTurns; ++i) turns_.push_back(root_of_unity(i, kTurns));
  draw(spectrum_);
  fourier_.transform_cube(spectrum_, Direction::forward);
}

template <class Body>
void FourierWave::each_point(const Body& body) {
  each(edge_, [&](std::int64_t z) {
    std::int64_t i = z * edge_ * edge_;
    for (std::int64_t y = 0; y < edge_; ++y)
      for (std::int64_t x = 0; x < edge_; ++x) body(i++, x, y, z);
  });
}

template <class Term>
double FourierWave::sum_of(const Term& term) {
  const std::int64_t plane = edge_ * edge_;
  return sum(edge_, [&](std::int64_t z) {
    double all = 0;
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i) all += term(i);
    return all;
  });
}

void FourierWave::draw(Array<Complex>& space) {
  each_point([&](std::int64_t i, auto...) { space[i] = {random_signed(5000, 2 * i), random_signed(5000, 2 * i + 1)}; });
}

// A wave of number k > edge / 2 is one of k - edge.
Complex FourierWave::turn(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t steps) const {
  const auto square = [n = edge_](std::int64_t k) { return k > n / 2 ? (n - k) * (n - k) : k * k; };
  const std::int64_t energy = (square(x) + square(y) + square(z)) % kTurns;
  return turns_[static_cast<std::size_t>(energy * (steps % kTurns) % kTurns)];
}

void FourierWave::step() {
  ++steps_;
  each_point([&](std::int64_t i, std::int64_t x, std::int64_t y, std::int64_t z) {
    spectrum_[i] = spectrum_[i] * turn(x, y, z, 1);
    space_[i] = spectrum_[i];
  });
  fourier_.transform_cube(space_, Direction::inverse);
  norm_ = sum_of([&](std::int64_t i) { return fourth_power(space_[i]); }) / static_cast<double>(space_.size());
}

// The next step recomputes the wave in space, so its memory is free.
std::string FourierWave::verify() {
  const double points = static_cast<double>(space_.size());
  const double all = sum_of([&](std::int64_t i) { return spectrum_[i].square(); });
  const double in_space = sum_of([&](std::int64_t i) { return space_[i].square(); }) * points;
  if (!(std::abs(all - in_space) <= 1e-11 * all)) return "space and spectrum have not the same squares (Parseval)";
  fourier_.transform_cube(space_, Direction::forward);
  const auto differences = [&] { return sum_of([&](std::int64_t i) { return (spectrum_[i] - space_[i]).square(); }); };
  if (!(differences() <= 1e-24 * all)) return "the transform of the wave is not its spectrum";
  draw(space_);
  fourier_.transform_cube(space_, Direction::forward);
  each_point([&](std::int64_t i, std::int64_t x, std::int64_t y, std::int64_t z) {
    space_[i] = space_[i] * turn(x, y, z, steps_);
  });
  // Each step rounds.
  const double rounding = 1e-13 + 1e-15 * static_cast<double>(steps_);
  if (!(differences() <= rounding * rounding * all)) return "the wave is not the first one, turned by all steps";
  return "";
}

}  // namespace kernels
