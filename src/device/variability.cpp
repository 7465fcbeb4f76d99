#include "device/variability.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::device {
namespace {

constexpr std::uint64_t kLongSteps = 8;
constexpr double kMaxSteps = 9e15;  // beyond, a double no longer tells steps apart

std::uint64_t step_of(double time_s, double period_s) {
  return static_cast<std::uint64_t>(std::clamp(std::floor(time_s / period_s), 0.0, kMaxSteps));
}

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

double unit_hash(std::uint64_t seed, std::uint64_t number) {
  return static_cast<double>(mix(mix(seed) ^ number) >> 11) * 0x1p-53;
}

double Variability::load(double time_s) const {
  if (amplitude <= 0) return 1;
  const std::uint64_t step = step_of(time_s, period_s);
  const double quick = unit_hash(seed, step), slow = unit_hash(~seed, step / kLongSteps);
  return 1 + amplitude * (quick + slow - 1);
}

double Variability::next_load(double time_s) const {
  if (amplitude <= 0) return std::numeric_limits<double>::infinity();
  const double change = static_cast<double>(step_of(time_s, period_s) + 1) * period_s;
  // Rounding must not return the time asked about: a thread that waits for the change would wait there for ever.
  return change > time_s ? change : std::nextafter(time_s + period_s, std::numeric_limits<double>::infinity());
}

double Variability::factor(double time_s) const {
  const bool slump = slump_factor < 1 && time_s >= slump_from_s && time_s < slump_until_s;
  return load(time_s) * (slump ? slump_factor : 1);
}

double Variability::next_change(double time_s) const {
  double next = next_load(time_s);
  if (slump_factor >= 1) return next;
  for (const double change : {slump_from_s, slump_until_s})
    if (change > time_s) next = std::min(next, change);
  return next;
}

}  // namespace perdure::device
