#include "sparse_matrix.hpp"

#include <cmath>
#include <utility>

#include "random.hpp"

namespace kernels {
namespace {

enum MatrixSeries : std::int64_t { order_series = 100, turn_series, weight_series, scale_series };

double scale_of(std::int64_t row) { return std::pow(30, random_unit(scale_series, row)); }

// The weight is the same for both directions.
double weight_of(std::int64_t pairing, std::int64_t one, std::int64_t other) {
  const auto [low, high] = std::minmax(one, other);
  return 0.5 + 0.5 * random_unit(weight_series + 10 + pairing, low * 0x100000000 + high);
}

}  // namespace

// Fills all rows in a random order. In each pairing, the numbers of a pair's places have the same sum modulo the number
// of rows. So neighbourhood is symmetric.
SparseMatrix::SparseMatrix(std::int64_t rows) : rows_(rows), values_(rows, kElements), columns_(rows, kElements) {
  Array<std::uint32_t> place(rows, 1), row_at(rows, 1);
  each(rows, [&](std::int64_t i) { row_at[i] = static_cast<std::uint32_t>(i); });
  for (std::int64_t i = rows - 1; i > 0; --i)
    std::swap(row_at[i], row_at[static_cast<std::int64_t>(random_unit(order_series, i) * static_cast<double>(i + 1))]);
  each(rows, [&](std::int64_t i) { place[row_at[i]] = static_cast<std::uint32_t>(i); });
  each(rows, [&](std::int64_t i) { fill_row(i, place, row_at); });
}

void SparseMatrix::fill_row(std::int64_t row, const Array<std::uint32_t>& place, const Array<std::uint32_t>& row_at) {
  double weights = 0.01;
  const double scale = scale_of(row);
  const std::int64_t first = row * kElements;
  for (std::int64_t k = 1; k < kElements; ++k) {
    const auto turn = static_cast<std::int64_t>(random_unit(turn_series, k) * static_cast<double>(rows_));
    const std::int64_t other = row_at[(turn + rows_ - place[row]) % rows_];
    const double weight = weight_of(k, row, other);
    weights += weight;
    values_[first + k] = -weight * scale * scale_of(other);
    columns_[first + k] = static_cast<std::uint32_t>(other);
  }
  values_[first] = weights * scale * scale;
  columns_[first] = static_cast<std::uint32_t>(row);
}

}  // namespace kernels
