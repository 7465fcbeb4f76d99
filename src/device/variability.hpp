#pragma once
// What other people's load leaves of a shared device, over time: a function of seed and time and nothing else, so that
// every run with the same seed meets the same load.
#include <cstdint>
#include <limits>

namespace perdure::device {

struct Variability {
  double amplitude =
      0;  ///< 0 (steady) to 0.95: the factor lies between 1 - amplitude and 1 + amplitude, and is 1 on average
  double period_s = 1;  ///< it changes every so many seconds, half of it only every 8 times that
  std::uint64_t seed = 0;

  /// Constant within a step; times before 0 belong to the first one.
  double factor(double time_s) const;
  /// The end of the step that `time_s` lies in; infinity for a steady device.
  double next_change(double time_s) const;
};

/// A number from [0, 1) that depends on both arguments and nothing else.
double unit_hash(std::uint64_t seed, std::uint64_t number);

}  // namespace perdure::device
