#pragma once
#include <cstdint>
#include <utility>

#include "array.hpp"

namespace kernels {

/// Triangles that fill a square of edge 1: `edge`^2 squares with randomly moved corners, each divided along a random
/// diagonal. Users see only cells, sides and their numbers.
class TriangleMesh {
 public:
  struct Side {
    std::uint32_t left, right;
    double x, y;  ///< normal from left to right, as long as the side
  };
  struct Cell {
    std::uint32_t sides[3];
  };
  static constexpr std::uint32_t kWall = 0xffffffff;  ///< right neighbour of a side at the edge of the square
  static constexpr double kSquareBytes = 3 * sizeof(Side) + 2 * (sizeof(Cell) + sizeof(double)) + 2 * sizeof(double);

  explicit TriangleMesh(std::int64_t edge);
  std::int64_t rows() const { return n_; }
  /// Returns the range of cells, and of sides, of a row of squares: first, and one past the last.
  std::pair<std::int64_t, std::int64_t> cells_of(std::int64_t row) const { return {2 * n_ * row, 2 * n_ * (row + 1)}; }
  std::pair<std::int64_t, std::int64_t> sides_of(std::int64_t row) const {
    return {row * side_row(), row + 1 == n_ ? side_row() * n_ + n_ : (row + 1) * side_row()};
  }
  std::pair<double, double> middle(std::int64_t cell) const;

  Array<Side> sides;
  Array<Cell> cells;
  Array<double> areas;  ///< of cells

 private:
  struct Point {
    double x, y;
  };
  enum class Of { bottom, left, diagonal };
  std::int64_t side_row() const { return 3 * n_ + 1; }
  std::int64_t node(std::int64_t i, std::int64_t j) const { return j * (n_ + 1) + i; }
  std::uint32_t side(Of which, std::int64_t i, std::int64_t j) const;
  std::uint32_t cell(std::int64_t i, std::int64_t j, std::int64_t half) const;
  static bool rises(std::int64_t i, std::int64_t j);
  void move_nodes(std::int64_t row);
  void make_cells(std::int64_t row);
  void make_sides(std::int64_t row);
  void make_side(std::uint32_t number, std::uint32_t left, std::uint32_t right, std::int64_t from, std::int64_t to);
  void corners(std::int64_t cell, std::int64_t (&nodes)[3]) const;

  std::int64_t n_;
  Array<Point> nodes_;
};

}  // namespace kernels
