#pragma once
// Chooses the items to read for a decoding, and their coefficients. It is small, and separate from the bytes.
#include <span>
#include <vector>

#include "base/result.hpp"
#include "redundancy/code.hpp"

namespace perdure::redundancy {

/// Stored row by row.
struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<Symbol> values;
  Matrix(unsigned r, unsigned c) : rows(r), columns(c), values(std::size_t{r} * c) {}
  Symbol& at(unsigned row, unsigned column) { return values[std::size_t{row} * columns + column]; }
  Symbol at(unsigned row, unsigned column) const { return values[std::size_t{row} * columns + column]; }
};

/// Returns the coefficients of the m parities over k data items.
Matrix parity_matrix(unsigned k, unsigned m);

/// Inverts a square matrix that can be inverted (Gauss and Jordan).
Matrix inverted(Matrix matrix);

/// The items to read, and the coefficients of the wanted items over them.
struct Decoding {
  std::vector<unsigned> sources;
  Matrix coefficients;
};
/// Uses all available data, and for each missing data item one parity. It takes the first available ones, as parity 0
/// alone is an exclusive or. PERDURE_NOT_FOUND if there are too few parities.
base::Result<Decoding> plan_decoding(unsigned k, unsigned m, const Items& available, std::span<const unsigned> wanted);

}  // namespace perdure::redundancy
