#pragma once
#include <cstdint>
#include <vector>

#include "array.hpp"
#include "complex.hpp"

namespace kernels {

enum class Direction { forward, inverse };  ///< the inverse divides by the number of points

/// Transforms lines of `edge` points by Stockham's method; the prime factors of `edge` must be 2, 3 and 5.
class Fourier {
 public:
  explicit Fourier(std::int64_t edge);
  /// Whether an edge has no other prime factors.
  static bool can_have(std::int64_t edge);
  /// Transforms all edge^3 points of a cube, along its three directions.
  void transform_cube(Array<Complex>& cube, Direction direction) const;

 private:
  static constexpr std::int64_t kLines = 8;  // transformed together: point by point, all lines at each point
  struct Lines {
    explicit Lines(std::int64_t edge) : now(edge * kLines), next(edge * kLines) {}
    std::vector<Complex> now, next;
  };
  struct Place {
    Complex* first;
    std::int64_t point_stride, line_stride, lines;
  };
  void transform_planes(Array<Complex>& cube, int dimension, Direction direction) const;
  void transform(const Place& place, Lines& lines, Direction direction) const;
  void pass(std::int64_t factor, std::int64_t parts, std::int64_t stride, Lines& lines, Direction direction) const;
  Complex root(std::int64_t power, Direction direction) const {
    const Complex forward = roots_[static_cast<std::size_t>(power % edge_)];
    return direction == Direction::forward ? forward : Complex{forward.re, -forward.im};
  }

  std::int64_t edge_;
  std::vector<std::int64_t> factors_;
  std::vector<Complex> roots_;
};

}  // namespace kernels
