#pragma once
// Implements the field of the parities, GF(2^8) over x^8 + x^4 + x^3 + x^2 + 1 (0x11d), as in ISA-L, and the
// coefficients of our code. Addition is exclusive or.
#include <cstdint>

namespace perdure::redundancy {

using Symbol = std::uint8_t;

inline constexpr unsigned kMaxParities = 8;
inline constexpr unsigned kMaxItems = 64;  ///< data and parities of one stripe together

Symbol multiply(Symbol a, Symbol b);
Symbol inverse(Symbol a);  ///< the inverse of 0 is 0

/// Returns the factor of data item `data` (< 63) in parity `parity` (< kMaxParities). The factors are a Cauchy matrix,
/// 1 / (x + y) with x = parity and y = 8 + data. Its columns are scaled so that parity 0 is the plain exclusive or of
/// the data. Scaling keeps every square part of it invertible. It depends neither on the number of data items nor on
/// that of parities: a smaller code is part of a larger one.
Symbol coefficient(unsigned parity, unsigned data);

}  // namespace perdure::redundancy
