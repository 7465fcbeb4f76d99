#pragma once
// Computes the flow through a side, after Harten, Lax and van Leer: a single state lies between the slowest and the
// fastest wave.
#include <algorithm>
#include <cmath>

#include "sedov.hpp"

namespace kernels {

constexpr double kGamma = 1.4;

struct Direction2 {
  double x, y;  ///< of length 1
};

/// The gas relative to a side.
struct GasAtSide {
  GasAtSide(const Gas& gas, const Direction2& normal)
      : speed((gas.momentum_x * normal.x + gas.momentum_y * normal.y) / gas.mass),
        pressure((kGamma - 1) *
                 (gas.energy - 0.5 * (gas.momentum_x * gas.momentum_x + gas.momentum_y * gas.momentum_y) / gas.mass)),
        sound(std::sqrt(kGamma * pressure / gas.mass)) {}
  Gas flow(const Gas& gas, const Direction2& normal) const {
    return {gas.mass * speed, gas.momentum_x * speed + pressure * normal.x,
            gas.momentum_y * speed + pressure * normal.y, (gas.energy + pressure) * speed};
  }
  double speed, pressure, sound;
};

struct SideFlow {
  Gas flow;
  double fastest;  ///< wave
};

inline SideFlow flow_between(const Gas& left, const Gas& right, const Direction2& normal) {
  const GasAtSide l(left, normal), r(right, normal);
  const double back = std::min({l.speed - l.sound, r.speed - r.sound, 0.0});
  const double ahead = std::max({l.speed + l.sound, r.speed + r.sound, 0.0});
  const Gas a = l.flow(left, normal), b = r.flow(right, normal);
  const double inverse = 1 / (ahead - back);
  const auto mean = [&](double Gas::*part) {
    return (ahead * (a.*part) - back * (b.*part) + ahead * back * (right.*part - left.*part)) * inverse;
  };
  return {{mean(&Gas::mass), mean(&Gas::momentum_x), mean(&Gas::momentum_y), mean(&Gas::energy)},
          std::max(ahead, -back)};
}

/// Computes the same for gas that meets its mirror image: only pressure passes.
inline SideFlow flow_into_wall(const Gas& gas, const Direction2& normal) {
  const GasAtSide at(gas, normal);
  const double fastest = at.sound + std::abs(at.speed);
  const double pressure = at.pressure + gas.mass * at.speed * (at.speed + fastest);
  return {{0, pressure * normal.x, pressure * normal.y, 0}, fastest};
}

}  // namespace kernels
