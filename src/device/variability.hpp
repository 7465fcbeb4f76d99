#pragma once
// The part of a device's speed that the load of others, and its own slumps, leave over time: a function of seed and
// time only, so that every run with the same seed meets the same.
#include <cstdint>
#include <limits>

namespace perdure::device {

struct Variability {
  double amplitude =
      0;  ///< 0 (steady) to 0.95: the factor lies between 1 - amplitude and 1 + amplitude, and is 1 on average
  double period_s = 1;  ///< seconds between changes; half of the variation changes every 8 periods
  std::uint64_t seed = 0;
  double slump_factor = 1;  ///< while it is in a slump: above 0, at most 1
  double slump_from_s = 0;
  double slump_until_s = std::numeric_limits<double>::infinity();

  /// Constant until next_change; times before 0 belong to the first step.
  double factor(double time_s) const;
  /// The end of the step that `time_s` lies in, or that of a slump or its beginning; infinity when nothing changes any
  /// more.
  double next_change(double time_s) const;

 private:
  double load(double time_s) const;
  double next_load(double time_s) const;
};

/// A number from [0, 1) that depends on both arguments and nothing else.
double unit_hash(std::uint64_t seed, std::uint64_t number);

}  // namespace perdure::device
