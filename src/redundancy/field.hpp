#pragma once
// The field that parities are computed in: GF(2^8) over x^8 + x^4 + x^3 + x^2 + 1 (0x11d), as ISA-L has it, and the
// coefficients of our code. Addition is exclusive or.
#include <cstdint>

namespace perdure::redundancy {

using Symbol = std::uint8_t;

inline constexpr unsigned kMaxParities = 8;
inline constexpr unsigned kMaxItems = 64;  ///< data and parities of one stripe together

Symbol multiply(Symbol a, Symbol b);
Symbol inverse(Symbol a);  ///< of 0: 0

/// What data item `data` (< 63) is multiplied with in parity `parity` (< kMaxParities). A Cauchy matrix, 1 / (x + y)
/// with x = parity and y = 8 + data, whose columns are scaled so that parity 0 is the plain exclusive or of the data;
/// scaling keeps every square part of it invertible. It depends neither on the number of data items nor on that of
/// parities: a code with fewer is part of the one with more.
Symbol coefficient(unsigned parity, unsigned data);

}  // namespace perdure::redundancy
