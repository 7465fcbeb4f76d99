#pragma once
// A sum of numbers that has the same bits in whatever order they come, and on however many ranks: nothing is rounded
// before the end. (R. M. Neal, Fast exact summation using small and large superaccumulators, 2015: the small one.)
// Pure.
#include <array>
#include <cstdint>
#include <span>

namespace perdure::mesh {

class ExactSum {
 public:
  void add(double value);
  /// What can be added element by element to that of other ranks, which is the sum of both; up to 2^30 of them.
  std::span<std::int64_t> digits();
  /// The nearest number to the sum; ties go to the even one. Infinite and undefined as additions one by one give it.
  double value() const;

 private:
  static constexpr std::size_t kDigits = 70;  // of 32 bits, from 2^-1088 on
  void carry();
  std::array<std::int64_t, kDigits + 3> digits_{};  // and how many infinities of each sign, and NaNs
  std::uint32_t since_carry_ = 0;
};

}  // namespace perdure::mesh
