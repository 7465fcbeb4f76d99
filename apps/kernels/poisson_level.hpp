#pragma once
#include <cstdint>

#include "array.hpp"

namespace kernels {

/// Represents Poisson's equation on a periodic grid of edge^3 points, 6 u - (the six neighbours' u) = f, with the
/// square of the spacing in f. The edge is even: points have two colours, and neighbours always differ.
class PoissonLevel {
 public:
  static constexpr double kPointBytes = 3 * sizeof(double);
  explicit PoissonLevel(std::int64_t edge)
      : n_(edge), u(edge, edge * edge), f(edge, edge * edge), r(edge, edge * edge) {}
  std::int64_t edge() const { return n_; }
  std::int64_t at(std::int64_t x, std::int64_t y, std::int64_t z) const { return (z * n_ + y) * n_ + x; }
  /// Makes `times` Gauss-Seidel steps: first the points of one colour, then those of the other.
  void relax(int times);
  /// Sets r = f - A u; returns the sum of its squares.
  double find_residual();
  /// Sets f of the coarse level to r, averaged with the neighbours, and its u to 0.
  void restrict_to(PoissonLevel& coarse) const;
  /// Adds u of the coarse level to u, interpolated.
  void correct_from(const PoissonLevel& coarse);

 private:
  struct Rows {
    std::int64_t edge;
    double *here, *south, *north, *below, *above;
    double neighbours(std::int64_t x) const {
      return here[x == 0 ? edge - 1 : x - 1] + here[x == edge - 1 ? 0 : x + 1] + south[x] + north[x] + below[x] +
             above[x];
    }
  };
  Rows rows(std::int64_t y, std::int64_t z);
  /// Divides the work by planes of z.
  template <class Body>
  void share(const Body& plane) const;
  bool is_shared() const { return n_ >= 16; }  // otherwise threads would only wait for each other
  std::int64_t before(std::int64_t i) const { return i == 0 ? n_ - 1 : i - 1; }
  std::int64_t after(std::int64_t i) const { return i == n_ - 1 ? 0 : i + 1; }
  std::int64_t n_;

 public:
  Array<double> u, f, r;
};

}  // namespace kernels
