#include "grid.hpp"

#include <algorithm>
#include <numeric>

namespace blast {
namespace {

// Returns a step through a row that visits each of its places once.
std::int64_t step_of(std::int64_t columns) {
  std::int64_t step = columns / 2 + 1;
  while (std::gcd(step, columns) != 1) ++step;
  return step;
}

}  // namespace

std::size_t Rows::local(std::int64_t row, std::int64_t column) const {
  const std::int64_t place = (column * step_of(columns) + 3 * row) % columns;
  return static_cast<std::size_t>((row - first + 1) * columns + place);
}

Grid::Grid(std::int64_t rows, std::int64_t columns, int rank, int ranks) {
  elements_ = {rows * rank / ranks, rows * (rank + 1) / ranks, columns};
  nodes_ = {elements_.first, elements_.end + (rank + 1 == ranks ? 1 : 0), columns + 1};
  nodes_of_.resize(static_cast<std::size_t>(elements_.in_memory()));
  corners_of_.resize(static_cast<std::size_t>(nodes_.in_memory()));
  // The row below belongs to a neighbour, but it pulls at the nodes of this rank's first row.
  for (std::int64_t row = std::max<std::int64_t>(elements_.first - 1, 0); row < elements_.end; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::size_t element = elements_.local(row, column);
      nodes_of_[element] = {nodes_.local(row, column), nodes_.local(row, column + 1), nodes_.local(row + 1, column + 1),
                            nodes_.local(row + 1, column)};
      for (int corner = 0; corner < 4; ++corner)
        corners_of_[nodes_of_[element][static_cast<std::size_t>(corner)]].push_back({element, corner});
    }
  for (std::int64_t row = elements_.first; row < elements_.end; ++row)
    for (std::int64_t column = 0; column < columns; ++column) own_elements_.push_back(elements_.local(row, column));
  for (std::int64_t row = nodes_.first; row < nodes_.end; ++row)
    for (std::int64_t column = 0; column <= columns; ++column) {
      own_nodes_.push_back(nodes_.local(row, column));
      if (column == 0 || column == columns) walls_x_.push_back(own_nodes_.back());
      if (row == 0 || row == rows) walls_y_.push_back(own_nodes_.back());
    }
  std::sort(own_elements_.begin(), own_elements_.end());
  std::sort(own_nodes_.begin(), own_nodes_.end());
}

}  // namespace blast
