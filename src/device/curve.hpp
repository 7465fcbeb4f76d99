#pragma once
// A curve gives a figure as a function of a count, from a table of points.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::device {

struct Point {
  double count = 0;  ///< concurrent streams, or nodes
  double value = 0;  ///< bytes/s
};

/// Interpolates linearly between points; constant before the first and after the last.
class Curve {
 public:
  /// Takes at least one point, counts ascending from 1, values positive and finite. Else PERDURE_INVALID_ARGUMENT about
  /// `object`.
  static base::Result<Curve> through(std::vector<Point> points, const std::string& object);
  static Curve constant(double value) { return Curve({{1, value}}); }

  double at(double count) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  explicit Curve(std::vector<Point> points) : points_(std::move(points)) {}
  std::vector<Point> points_;
};

}  // namespace perdure::device
