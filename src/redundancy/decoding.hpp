#pragma once
// The algebra of decoding: which items are read, and with which coefficients. Small, and apart from the bytes.
#include <span>
#include <vector>

#include "base/result.hpp"
#include "redundancy/code.hpp"

namespace perdure::redundancy {

/// Row by row.
struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<Symbol> values;
  Matrix(unsigned r, unsigned c) : rows(r), columns(c), values(std::size_t{r} * c) {}
  Symbol& at(unsigned row, unsigned column) { return values[std::size_t{row} * columns + column]; }
  Symbol at(unsigned row, unsigned column) const { return values[std::size_t{row} * columns + column]; }
};

/// The coefficients of the m parities over k data items.
Matrix parity_matrix(unsigned k, unsigned m);

/// Of a square matrix that can be inverted (Gauss and Jordan).
Matrix inverted(Matrix matrix);

/// The items to read, and the coefficients of the wanted items over them.
struct Decoding {
  std::vector<unsigned> sources;
  Matrix coefficients;
};
/// All available data, and for each missing data item one parity: the first ones available, as parity 0 alone is
/// nothing but an exclusive or. Error: PERDURE_NOT_FOUND when there are too few parities.
base::Result<Decoding> plan_decoding(unsigned k, unsigned m, const Items& available, std::span<const unsigned> wanted);

}  // namespace perdure::redundancy
