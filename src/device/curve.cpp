#include "device/curve.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::device {

base::Result<Curve> Curve::through(std::vector<Point> points, const std::string& object) {
  if (points.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, object, "has no points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].count) || points[i].count < 1 || (i > 0 && points[i].count <= points[i - 1].count))
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "its counts do not ascend from 1 on");
    if (!std::isfinite(points[i].value) || points[i].value <= 0)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "holds a throughput that is not positive");
  }
  return Curve(std::move(points));
}

double Curve::at(double count) const {
  const auto right = std::upper_bound(points_.begin(), points_.end(), count,
                                      [](double wanted, const Point& point) { return wanted < point.count; });
  if (right == points_.begin()) return right->value;
  const auto left = right - 1;
  if (right == points_.end()) return left->value;
  return left->value + (right->value - left->value) * (count - left->count) / (right->count - left->count);
}

}  // namespace perdure::device
