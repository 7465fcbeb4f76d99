#pragma once
// Sums doubles with the same bits in any order and on any number of ranks: it rounds only once, at the end. Implements
// the small superaccumulator of R. M. Neal, Fast exact summation using small and large superaccumulators, 2015. Pure.
#include <array>
#include <cstdint>
#include <span>

namespace perdure::mesh {

class ExactSum {
 public:
  void add(double value);
  /// The accumulator's digits. Adding those of all ranks element by element, up to 2^30 ranks, gives the accumulator of
  /// the total.
  std::span<std::int64_t> digits();
  /// Returns the double nearest to the sum; ties go to even. Infinities and NaNs come out as if added one by one.
  double value() const;

 private:
  static constexpr std::size_t kDigits = 70;  // 32 bits each, from 2^-1088 on
  void carry();
  std::array<std::int64_t, kDigits + 3> digits_{};  // followed by the counts of +inf, -inf and NaN
  std::uint32_t since_carry_ = 0;
};

}  // namespace perdure::mesh
