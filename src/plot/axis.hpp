#pragma once
// Computes one axis of a chart. Private to plot/.
#include <string>
#include <vector>

namespace perdure::plot {

/// Maps [low, high] to [0, 1], linearly or by logarithm.
class Axis {
 public:
  /// Covers `values`; a linear one with `from_zero` begins at 0.
  Axis(const std::vector<double>& values, bool logarithmic, bool from_zero);
  bool shows(double value) const;
  double place(double value) const;
  /// Returns the places of lines: round values within the range, at most about 10.
  std::vector<double> ticks() const;

 private:
  bool logarithmic_;
  double low_ = 0, high_ = 1;
};

/// Formats "0.25", "1.5k", "2M", "20G": at most four digits.
std::string tick_text(double value);

}  // namespace perdure::plot
