#include "redundancy/decoding.hpp"

#include <algorithm>

namespace perdure::redundancy {
namespace {

struct Sources {
  std::vector<unsigned> data, missing, parities;  // `parities` has as many as are missing
};

base::Result<Sources> choose(unsigned k, unsigned m, const Items& available) {
  Sources chosen;
  unsigned parities = 0;
  for (unsigned item = 0; item < k; ++item) (available[item] ? chosen.data : chosen.missing).push_back(item);
  for (unsigned item = k; item < k + m; ++item) {
    if (!available[item]) continue;
    ++parities;
    if (chosen.parities.size() < chosen.missing.size()) chosen.parities.push_back(item);
  }
  if (chosen.parities.size() == chosen.missing.size()) return chosen;
  return base::fail(PERDURE_NOT_FOUND, "stripe of " + std::to_string(k) + "+" + std::to_string(m),
                    std::to_string(chosen.missing.size()) + " data items are missing, and " + std::to_string(parities) +
                        " parities are there");
}

// Solves for the missing data over (data there, parities chosen). The chosen parities minus the data that is there form
// a square system in the missing items.
Matrix missing_data(const Sources& from) {
  const auto count = static_cast<unsigned>(from.missing.size()), there = static_cast<unsigned>(from.data.size());
  const auto k = there + count;
  Matrix system(count, count);
  for (unsigned p = 0; p < count; ++p)
    for (unsigned i = 0; i < count; ++i) system.at(p, i) = coefficient(from.parities[p] - k, from.missing[i]);
  const Matrix solved = inverted(std::move(system));
  Matrix rows(count, k);
  for (unsigned i = 0; i < count; ++i)
    for (unsigned p = 0; p < count; ++p) {
      rows.at(i, there + p) = solved.at(i, p);
      for (unsigned d = 0; d < there; ++d)
        rows.at(i, d) ^= multiply(solved.at(i, p), coefficient(from.parities[p] - k, from.data[d]));
    }
  return rows;
}

unsigned index_in(const std::vector<unsigned>& items, unsigned item) {
  return static_cast<unsigned>(std::lower_bound(items.begin(), items.end(), item) - items.begin());
}

// Adds factor * data item to a row.
void add_data(Matrix& to, unsigned row, Symbol factor, unsigned item, const Sources& from, const Matrix& missing) {
  if (!std::binary_search(from.missing.begin(), from.missing.end(), item)) {
    to.at(row, index_in(from.data, item)) ^= factor;
    return;
  }
  const unsigned which = index_in(from.missing, item);
  for (unsigned c = 0; c < to.columns; ++c) to.at(row, c) ^= multiply(factor, missing.at(which, c));
}

}  // namespace

Matrix parity_matrix(unsigned k, unsigned m) {
  Matrix matrix(m, k);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < k; ++j) matrix.at(i, j) = coefficient(i, j);
  return matrix;
}

Matrix inverted(Matrix matrix) {
  const unsigned n = matrix.rows;
  Matrix result(n, n);
  for (unsigned i = 0; i < n; ++i) result.at(i, i) = 1;
  for (unsigned i = 0; i < n; ++i) {
    unsigned pivot = i;
    while (pivot + 1 < n && matrix.at(pivot, i) == 0) ++pivot;
    for (unsigned c = 0; c < n; ++c) {
      std::swap(matrix.at(i, c), matrix.at(pivot, c));
      std::swap(result.at(i, c), result.at(pivot, c));
    }
    const Symbol scale = inverse(matrix.at(i, i));
    for (unsigned c = 0; c < n; ++c) {
      matrix.at(i, c) = multiply(scale, matrix.at(i, c));
      result.at(i, c) = multiply(scale, result.at(i, c));
    }
    for (unsigned row = 0; row < n; ++row) {
      const Symbol factor = matrix.at(row, i);
      if (row == i || factor == 0) continue;
      for (unsigned c = 0; c < n; ++c) {
        matrix.at(row, c) ^= multiply(factor, matrix.at(i, c));
        result.at(row, c) ^= multiply(factor, result.at(i, c));
      }
    }
  }
  return result;
}

base::Result<Decoding> plan_decoding(unsigned k, unsigned m, const Items& available, std::span<const unsigned> wanted) {
  PERDURE_TRY(const Sources from, choose(k, m, available));
  const Matrix missing = missing_data(from);
  Matrix rows(static_cast<unsigned>(wanted.size()), k);
  for (unsigned row = 0; row < rows.rows; ++row) {
    if (wanted[row] < k)
      add_data(rows, row, 1, wanted[row], from, missing);
    else
      for (unsigned d = 0; d < k; ++d) add_data(rows, row, coefficient(wanted[row] - k, d), d, from, missing);
  }
  std::vector<unsigned> sources = from.data;
  sources.insert(sources.end(), from.parities.begin(), from.parities.end());
  return Decoding{std::move(sources), std::move(rows)};
}

}  // namespace perdure::redundancy
