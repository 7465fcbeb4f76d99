#pragma once
// Models how the load of others, and slumps, reduce a device's speed over time. It depends on seed and time only, so
// that every run with the same seed meets the same speeds.
#include <cstdint>
#include <limits>

namespace perdure::device {

struct Variability {
  double amplitude =
      0;  ///< 0 (steady) to 0.95: the factor lies between 1 - amplitude and 1 + amplitude, and is 1 on average
  double period_s = 1;  ///< seconds between changes; half of the variation changes every 8 periods
  std::uint64_t seed = 0;
  double slump_factor = 1;  ///< during a slump: above 0, at most 1
  double slump_from_s = 0;
  double slump_until_s = std::numeric_limits<double>::infinity();

  /// It is constant until next_change; times before 0 belong to the first step.
  double factor(double time_s) const;
  /// Returns the end of the step of `time_s`, or the next begin or end of a slump; infinity if nothing changes any
  /// more.
  double next_change(double time_s) const;

 private:
  double load(double time_s) const;
  double next_load(double time_s) const;
};

/// Returns a number from [0, 1) that depends on both arguments only.
double unit_hash(std::uint64_t seed, std::uint64_t number);

}  // namespace perdure::device
