#include "triangle_mesh.hpp"

#include <algorithm>

#include "random.hpp"

namespace kernels {

TriangleMesh::TriangleMesh(std::int64_t edge)
    : sides(edge + 1, 3 * edge + 1),
      cells(edge, 2 * edge),
      areas(edge, 2 * edge),
      n_(edge),
      nodes_(edge + 1, edge + 1) {
  each(n_ + 1, [&](std::int64_t row) { move_nodes(row); });
  each(n_, [&](std::int64_t row) { make_cells(row); });
  each(n_ + 1, [&](std::int64_t row) { make_sides(row); });
}

// Squares are numbered by rows, and so are the sides below them, at their left, and across them. The sides at the top
// of the last row follow at the end.
std::uint32_t TriangleMesh::side(Of which, std::int64_t i, std::int64_t j) const {
  const std::int64_t first = j * side_row();
  if (which == Of::bottom) return static_cast<std::uint32_t>(first + i);
  return static_cast<std::uint32_t>(which == Of::left ? first + n_ + i : first + 2 * n_ + 1 + i);
}

std::uint32_t TriangleMesh::cell(std::int64_t i, std::int64_t j, std::int64_t half) const {
  return static_cast<std::uint32_t>(2 * (j * n_ + i) + half);
}

// Whether the diagonal goes from the lower left to the upper right corner. The first half is at the bottom in any case.
bool TriangleMesh::rises(std::int64_t i, std::int64_t j) { return (random_bits(7000, j * 0x100000000 + i) & 1) != 0; }

void TriangleMesh::move_nodes(std::int64_t row) {
  const double h = 1 / static_cast<double>(n_);
  const auto moved = [&](std::int64_t series, std::int64_t k, std::int64_t i) {
    const bool fixed = k == 0 || k == n_;
    return h * (static_cast<double>(k) + (fixed ? 0 : 0.25 * random_signed(series, node(i, row))));
  };
  for (std::int64_t i = 0; i <= n_; ++i) nodes_[node(i, row)] = {moved(7001, i, i), moved(7002, row, i)};
}

void TriangleMesh::corners(std::int64_t cell, std::int64_t (&nodes)[3]) const {
  const std::int64_t i = cell / 2 % n_, j = cell / 2 / n_;
  const std::int64_t a = node(i, j), b = a + 1, c = node(i + 1, j + 1), d = c - 1;
  const bool first = cell % 2 == 0;
  nodes[0] = first || rises(i, j) ? a : b;
  nodes[1] = first ? b : c;
  nodes[2] = first && rises(i, j) ? c : d;
}

void TriangleMesh::make_cells(std::int64_t row) {
  for (std::int64_t i = 0; i < n_; ++i) {
    const std::uint32_t bottom = side(Of::bottom, i, row), top = side(Of::bottom, i, row + 1);
    const std::uint32_t left = side(Of::left, i, row), across = side(Of::diagonal, i, row);
    const bool up = rises(i, row);
    cells[cell(i, row, 0)] = {{bottom, up ? left + 1 : left, across}};
    cells[cell(i, row, 1)] = {{top, up ? left : left + 1, across}};
    for (std::int64_t half = 0; half < 2; ++half) {
      std::int64_t at[3];
      corners(cell(i, row, half), at);
      const Point &a = nodes_[at[0]], &b = nodes_[at[1]], &c = nodes_[at[2]];
      areas[cell(i, row, half)] = 0.5 * ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
    }
  }
}

// Walls are at the right; the side's direction is reversed for that.
void TriangleMesh::make_side(std::uint32_t number, std::uint32_t left, std::uint32_t right, std::int64_t from,
                             std::int64_t to) {
  if (left == kWall) std::swap(left, right), std::swap(from, to);
  const Point &a = nodes_[from], &b = nodes_[to];
  sides[number] = {left, right, b.y - a.y, a.x - b.x};
}

// Left and right of a side are as seen when going from its first node to the other.
void TriangleMesh::make_sides(std::int64_t row) {
  for (std::int64_t i = 0; i < n_; ++i)
    make_side(side(Of::bottom, i, row), row < n_ ? cell(i, row, 0) : kWall, row > 0 ? cell(i, row - 1, 1) : kWall,
              node(i, row), node(i + 1, row));
  if (row == n_) return;
  for (std::int64_t i = 0; i <= n_; ++i) {
    const std::uint32_t before = i > 0 ? cell(i - 1, row, rises(i - 1, row) ? 0 : 1) : kWall;
    const std::uint32_t behind = i < n_ ? cell(i, row, rises(i, row) ? 1 : 0) : kWall;
    make_side(side(Of::left, i, row), before, behind, node(i, row), node(i, row + 1));
  }
  for (std::int64_t i = 0; i < n_; ++i) {
    const bool up = rises(i, row);
    make_side(side(Of::diagonal, i, row), cell(i, row, up ? 1 : 0), cell(i, row, up ? 0 : 1),
              up ? node(i, row) : node(i + 1, row), up ? node(i + 1, row + 1) : node(i, row + 1));
  }
}

std::pair<double, double> TriangleMesh::middle(std::int64_t cell) const {
  std::int64_t at[3];
  corners(cell, at);
  const Point &a = nodes_[at[0]], &b = nodes_[at[1]], &c = nodes_[at[2]];
  return {(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
}

}  // namespace kernels
