#pragma once
// Random numbers by number: the i-th of a series is a function of i, so that any thread can have it, and verify() can
// have it again.
#include <cstdint>

namespace kernels {

/// Every bit of the result depends on every bit of `value` (the finisher of splitmix64).
inline std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

/// The i-th of the series `series`.
inline std::uint64_t random_bits(std::int64_t series, std::int64_t i) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  return mixed(mixed(static_cast<std::uint64_t>(series) * kGolden + 1) + static_cast<std::uint64_t>(i) * kGolden);
}

/// From 0 to 1, without 1.
inline double random_unit(std::int64_t series, std::int64_t i) {
  return static_cast<double>(random_bits(series, i) >> 11U) * 0x1p-53;
}

/// From -1 to 1, without 1.
inline double random_signed(std::int64_t series, std::int64_t i) { return 2 * random_unit(series, i) - 1; }

}  // namespace kernels
