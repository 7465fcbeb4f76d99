#include "metrics/step_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace perdure::metrics {
namespace {

// Chance makes medians of few steps differ; what is within two deviations is no slow-down.
constexpr double kDeviations = 2, kDeviationOfMedian = 1.4826;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void StepTime::step(double left_s, double entered_s, double flushed) {
  if (!std::isfinite(left_s) || !std::isfinite(entered_s) || !std::isfinite(flushed)) return;
  const bool overlaps = begun_ && left_s < last_s_;
  begun_ = true;
  last_s_ = entered_s;  // also of what is ignored: a clock that was set back goes on from there
  if (overlaps || entered_s <= left_s) return;
  const double fraction = std::clamp(flushed, 0.0, 1.0);
  auto& kind = kinds_[std::min<std::size_t>(static_cast<std::size_t>(fraction * 3), 2)];
  kind.push_back({++steps_, entered_s - left_s, fraction});
  if (kind.size() > kWindow) kind.pop_front();
  if (fraction >= kContrast) ++flushed_;
  estimate();
}

void StepTime::estimate() {
  std::vector<Step> all;
  for (auto& kind : kinds_) {
    while (!kind.empty() && kind.front().number + kForgotten <= steps_) kind.pop_front();
    all.insert(all.end(), kind.begin(), kind.end());
  }
  std::sort(all.begin(), all.end(), [](const Step& a, const Step& b) { return a.flushed < b.flushed; });
  std::vector<double> slopes, rests, noises;
  std::size_t lower = 0, upper = 0;  // steps that have a counterpart above, below
  for (const Step& step : all) {
    lower += all.back().flushed - step.flushed >= kContrast ? 1 : 0;
    upper += step.flushed - all.front().flushed >= kContrast ? 1 : 0;
    for (const Step& other : all)
      if (other.flushed - step.flushed >= kContrast)
        slopes.push_back((other.seconds - step.seconds) / (other.flushed - step.flushed));
  }
  slowdown_.reset();
  quiet_s_.reset();
  if (lower < kLeast || upper < kLeast) return;
  const double slope = median(std::move(slopes));
  for (const Step& step : all) rests.push_back(step.seconds - slope * step.flushed);
  const double quiet = median(rests);
  if (quiet <= 0) return;  // the line fits no application
  for (const double rest : rests) noises.push_back(std::abs(rest - quiet));
  const double spread = kDeviationOfMedian * median(std::move(noises)) *
                        std::sqrt(1.0 / static_cast<double>(lower) + 1.0 / static_cast<double>(upper));
  slowdown_ = slope <= kDeviations * spread ? 0 : slope / quiet;
  quiet_s_ = quiet;
}

}  // namespace perdure::metrics
