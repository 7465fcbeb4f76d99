#pragma once
// Implements the grid of the blast: quadrilateral elements between nodes that move, with rows divided among ranks.
// Elements and nodes of a row lie in memory in their own order, so that loops use lists of indices, like codes on
// unstructured meshes. The order does not depend on the number of ranks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace blast {

/// Rows of elements or nodes, of which this rank owns some. Memory has one more row on each side, a copy of the
/// neighbour's. Local numbers count from the first row in memory.
struct Rows {
  std::int64_t first = 0, end = 0;  ///< the rows that this rank owns
  std::int64_t columns = 0;
  std::int64_t in_memory() const { return (end - first + 2) * columns; }
  /// Returns the local number of the element or node in that row and column.
  std::size_t local(std::int64_t row, std::int64_t column) const;
};

/// An element at a node: its local number, and which of its corners the node is.
struct Corner {
  std::size_t element = 0;
  int number = 0;
};

class Grid {
 public:
  Grid(std::int64_t rows, std::int64_t columns, int rank, int ranks);
  const Rows& elements() const { return elements_; }
  const Rows& nodes() const { return nodes_; }
  /// The four nodes around each local element, counter-clockwise.
  const std::vector<std::array<std::size_t, 4>>& nodes_of() const { return nodes_of_; }
  /// The corners at each local node that this rank owns, in an order that is the same on any number of ranks.
  const std::vector<std::vector<Corner>>& corners_of() const { return corners_of_; }
  /// Local numbers of the elements and nodes that this rank owns, in memory order.
  const std::vector<std::size_t>& own_elements() const { return own_elements_; }
  const std::vector<std::size_t>& own_nodes() const { return own_nodes_; }
  /// Nodes on the left and right walls, and on the lower and upper ones.
  const std::vector<std::size_t>& walls_x() const { return walls_x_; }
  const std::vector<std::size_t>& walls_y() const { return walls_y_; }

 private:
  Rows elements_, nodes_;
  std::vector<std::array<std::size_t, 4>> nodes_of_;
  std::vector<std::vector<Corner>> corners_of_;
  std::vector<std::size_t> own_elements_, own_nodes_, walls_x_, walls_y_;
};

}  // namespace blast
