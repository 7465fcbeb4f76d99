#include "mesh/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace perdure::mesh {
namespace {

constexpr std::uint32_t kMostAdditions = 1U << 29U;  // each adds less than 2^33 to a digit
constexpr int kLowest = 1088;                        // digit 0 counts units of 2^-1088

}  // namespace

// 2^-1074 is the lowest bit of a double. The 53 bits of a mantissa reach into at most three digits.
void ExactSum::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52U & 0x7ffU);
  std::uint64_t mantissa = bits & 0xfffffffffffffULL;
  const bool negative = (bits >> 63U) != 0;
  if (exponent == 0x7ff) {
    ++digits_[kDigits + (mantissa != 0 ? 2 : negative ? 1 : 0)];
    return;
  }
  if (exponent != 0) mantissa |= 1ULL << 52U;
  const auto place = static_cast<unsigned>((exponent == 0 ? 1 : exponent) - 1075 + kLowest);
  const unsigned digit = place / 32, shift = place % 32;
  const auto low = static_cast<std::int64_t>(mantissa << shift & 0xffffffffULL);
  const auto middle = static_cast<std::int64_t>(mantissa >> (32 - shift) & 0xffffffffULL);
  const auto high = static_cast<std::int64_t>(shift == 0 ? 0 : mantissa >> (64 - shift));
  const std::int64_t sign = negative ? -1 : 1;
  digits_[digit] += sign * low;
  digits_[digit + 1] += sign * middle;
  digits_[digit + 2] += sign * high;
  if (++since_carry_ == kMostAdditions) carry();
}

// Afterwards all digits but the last are 0 to 2^32 - 1.
void ExactSum::carry() {
  since_carry_ = 0;
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    digits_[i + 1] += digits_[i] >> 32U;
    digits_[i] &= 0xffffffffLL;
  }
}

std::span<std::int64_t> ExactSum::digits() {
  carry();
  return digits_;
}

double ExactSum::value() const {
  const auto infinities = digits_[kDigits], negative_ones = digits_[kDigits + 1];
  if (digits_[kDigits + 2] != 0 || (infinities != 0 && negative_ones != 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (infinities != 0) return std::numeric_limits<double>::infinity();
  if (negative_ones != 0) return -std::numeric_limits<double>::infinity();
  ExactSum sum = *this;
  sum.carry();
  const bool negative = sum.digits_[kDigits - 1] < 0;
  if (negative) {
    for (std::size_t i = 0; i < kDigits; ++i) sum.digits_[i] = -sum.digits_[i];
    sum.carry();
  }
  std::size_t top = kDigits;
  while (top > 0 && sum.digits_[top - 1] == 0) --top;
  if (top == 0) return 0;
  // The top 64 bits, and whether any lower bit is set, suffice to round once.
  const auto digit = [&](std::size_t below) {
    return top > below ? static_cast<std::uint64_t>(sum.digits_[top - 1 - below]) : 0;
  };
  std::uint64_t bits = digit(0) << 32U | digit(1);
  const auto shift = static_cast<unsigned>(std::countl_zero(bits));  // less than 32
  bits = shift == 0 ? bits : bits << shift | digit(2) >> (32 - shift);
  bool rest = shift == 0 ? digit(2) != 0 : (digit(2) << shift & 0xffffffffULL) != 0;
  for (std::size_t i = 3; i < top && !rest; ++i) rest = digit(i) != 0;
  std::uint64_t rounded = bits >> 11U;
  const std::uint64_t cut = bits & 0x7ffU;
  if (cut > 0x400U || (cut == 0x400U && (rest || (rounded & 1U) != 0))) ++rounded;
  const int exponent = 32 * (static_cast<int>(top) - 2) - kLowest - static_cast<int>(shift) + 11;
  const double magnitude = std::ldexp(static_cast<double>(rounded), exponent);
  return negative ? -magnitude : magnitude;
}

}  // namespace perdure::mesh
