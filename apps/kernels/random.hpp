#pragma once
// Computes random numbers by index: the i-th of a series is a function of i. So any thread can compute it, and verify()
// can repeat it.
#include <cstdint>

namespace kernels {

/// Every bit of the result depends on every bit of `value` (the finisher of splitmix64).
inline std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

/// Returns the i-th number of `series`.
inline std::uint64_t random_bits(std::int64_t series, std::int64_t i) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  return mixed(mixed(static_cast<std::uint64_t>(series) * kGolden + 1) + static_cast<std::uint64_t>(i) * kGolden);
}

/// Returns a number from 0 to 1, without 1.
inline double random_unit(std::int64_t series, std::int64_t i) {
  return static_cast<double>(random_bits(series, i) >> 11U) * 0x1p-53;
}

/// Returns a number from -1 to 1, without 1.
inline double random_signed(std::int64_t series, std::int64_t i) { return 2 * random_unit(series, i) - 1; }

}  // namespace kernels
