#include "metrics/step_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace perdure::metrics {
namespace {

// Medians of few steps differ by chance: a difference within two deviations is no slow-down.
constexpr double kDeviations = 2, kDeviationOfMedian = 1.4826;
constexpr double kMostThreads = 1e6;
constexpr double kMostLost = 0.999;  // of a second: beyond a factor of a thousand it makes no difference

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Converts lost time per second into the relative slow-down.
double slower(double lost) {
  const double part = std::clamp(lost, 0.0, kMostLost);
  return part / (1 - part);
}

}  // namespace

void StepTime::step(double left_s, double entered_s, double flushed, double threads) {
  for (const double value : {left_s, entered_s, flushed, threads})
    if (!std::isfinite(value)) return;
  const bool overlaps = begun_ && left_s < last_s_;
  begun_ = true;
  last_s_ = entered_s;  // also for ignored steps: it follows a clock that was set back
  if (overlaps || entered_s <= left_s) return;
  const double fraction = std::clamp(flushed, 0.0, 1.0);
  auto& kind = kinds_[std::min<std::size_t>(static_cast<std::size_t>(fraction * 3), 2)];
  kind.push_back({++steps_, entered_s - left_s, fraction, std::clamp(threads, 0.0, kMostThreads)});
  if (kind.size() > kWindow) kind.pop_front();
  if (fraction >= kContrast) {
    ++flushed_;
    threads_.push_back(kind.back().threads);
    if (threads_.size() > kLeast) threads_.pop_front();
  }
  estimate();
}

std::optional<double> StepTime::threads() const {
  if (threads_.empty()) return std::nullopt;
  return median({threads_.begin(), threads_.end()});
}

std::vector<StepTime::Step> StepTime::recent() {
  std::vector<Step> all;
  for (auto& kind : kinds_) {
    while (!kind.empty() && kind.front().number + kForgotten <= steps_) kind.pop_front();
    all.insert(all.end(), kind.begin(), kind.end());
  }
  return all;
}

void StepTime::estimate() {
  slowdown_.reset();
  at_least_.reset();
  quiet_s_.reset();
  const std::vector<Step> all = recent();
  std::vector<double> prices, contrasts, own, noises;
  std::vector<bool> more(all.size());
  std::size_t little = 0;  // steps that can be compared to one with more flushing
  for (const Step& step : all) {
    const std::size_t before = prices.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!step.comparable_to(all[i])) continue;
      more[i] = true;
      contrasts.push_back(all[i].busy_s() - step.busy_s());
      prices.push_back((all[i].seconds - step.seconds) / contrasts.back());
    }
    little += prices.size() > before ? 1 : 0;
  }
  const auto much = static_cast<std::size_t>(std::count(more.begin(), more.end(), true));
  if (little < kLeast || much < kLeast) return;
  const double price = median(std::move(prices));
  for (const Step& step : all) own.push_back(step.seconds - price * step.busy_s());
  const double quiet = median(own);
  if (!(quiet > 0)) return;
  for (const double seconds : own) noises.push_back(std::abs(seconds - quiet));
  const double spread = kDeviationOfMedian * median(std::move(noises)) *
                        std::sqrt(1.0 / static_cast<double>(little) + 1.0 / static_cast<double>(much));
  const double at_once = threads().value_or(1);
  const double doubt = kDeviations * spread / median(std::move(contrasts));
  at_least_ = slower((price - doubt) * at_once);
  slowdown_ = *at_least_ > 0 ? slower(price * at_once) : 0;
  quiet_s_ = quiet;
}

}  // namespace perdure::metrics
