#include "plot/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace perdure::plot {
namespace {

constexpr double kWantedTicks = 6;
constexpr double kMostDecades = 12;  // beyond, the axis would be all ticks

double round_step(double range) {
  const double raw = range / kWantedTicks, power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

}  // namespace

Axis::Axis(const std::vector<double>& values, bool logarithmic, bool from_zero) : logarithmic_(logarithmic) {
  bool any = false;
  for (double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (logarithmic_) {
    if (!any) low_ = high_ = 1;
    low_ = std::max(low_, high_ * std::pow(10, -kMostDecades));
    if (low_ == high_) low_ /= 2, high_ *= 2;
    return;
  }
  if (from_zero) low_ = std::min(low_, 0.0);
  if (low_ == high_) high_ = low_ + std::max(std::abs(low_), 1.0);
  if (from_zero) high_ += 0.05 * (high_ - low_);
}

bool Axis::shows(double value) const { return std::isfinite(value) && value >= low_ && value <= high_; }

double Axis::place(double value) const {
  if (logarithmic_) return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));
  return (value - low_) / (high_ - low_);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> found;
  if (logarithmic_) {
    // Uses powers of 2 for counts of writers and nodes, of 10 for larger ranges.
    const double base = high_ / low_ > 1e5 ? 10 : high_ / low_ > 300 ? 4 : 2;
    for (double k = std::ceil(std::log(low_) / std::log(base) - 1e-9); std::pow(base, k) <= high_ * 1.000001; ++k)
      found.push_back(std::pow(base, k));
    return found;
  }
  const double step = round_step(high_ - low_);
  for (double k = std::ceil(low_ / step); k * step <= high_; ++k) found.push_back(k * step);
  return found;
}

std::string tick_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}}};
  std::array<char, 64> text{};
  for (const auto& [size, unit] : kUnits) {
    if (std::abs(value) < size) continue;
    const double divisor = size == 1e4 ? 1e3 : size;
    std::snprintf(text.data(), text.size(), "%.4g%s", value / divisor, unit);
    return text.data();
  }
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace perdure::plot
