#pragma once
// Counts observations by size. Not thread-safe.
#include <algorithm>

#include "metrics/family.hpp"

namespace perdure::metrics {

class Histogram {
 public:
  /// `bounds` are finite and ascending.
  explicit Histogram(std::vector<double> bounds) {
    data_.counts.resize(bounds.size() + 1);
    data_.bounds = std::move(bounds);
  }
  void observe(double value) {
    const auto bucket = std::lower_bound(data_.bounds.begin(), data_.bounds.end(), value) - data_.bounds.begin();
    ++data_.counts[static_cast<std::size_t>(bucket)];
    data_.sum += value;
  }
  const Distribution& distribution() const { return data_; }

 private:
  Distribution data_;
};

/// Returns bounds from a millisecond to half an hour, in steps of about a factor of three.
inline std::vector<double> duration_bounds_s() {
  return {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1800};
}

}  // namespace perdure::metrics
