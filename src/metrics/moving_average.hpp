#pragma once
// Averages the last few observations (VeloC IPDPS'19, Algorithm 3: the average flush bandwidth). Not thread-safe.
#include <cmath>
#include <cstddef>
#include <deque>

namespace perdure::metrics {

class MovingAverage {
 public:
  explicit MovingAverage(std::size_t window = 16) : window_(window) {}
  void add(double value) {
    values_.push_back(value);
    sum_ += value;
    if (values_.size() > window_) {
      sum_ -= values_.front();
      values_.pop_front();
    }
  }
  /// Acts as if the last observations had all been this one.
  void fill(double value) {
    values_.assign(window_, value);
    sum_ = value * static_cast<double>(window_);
  }
  double mean() const { return values_.empty() ? 0 : sum_ / static_cast<double>(values_.size()); }
  /// Returns the standard deviation of the values in the window; 0 for fewer than two.
  double deviation() const {
    if (values_.size() < 2) return 0;
    double squares = 0;
    for (double value : values_) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / static_cast<double>(values_.size()));
  }

 private:
  std::size_t window_;
  std::deque<double> values_;
  double sum_ = 0;
};

}  // namespace perdure::metrics
