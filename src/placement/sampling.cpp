#include "placement/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace perdure::placement {
namespace {

constexpr unsigned kFewestForSpline = 5;
constexpr std::size_t kFewestAtKnees = 3;  // of a small range
constexpr double kUnseen = 0.02;           // looks into a wide gap even if the curve seems straight there

std::vector<unsigned> counts_that_double(unsigned max_writers) {
  std::vector<unsigned> counts;
  for (unsigned k = 1; k < max_writers; k *= 2) counts.push_back(k);
  counts.push_back(max_writers);
  return counts;
}

/// Both axes are logarithmic: devices change from 1 to 4 writers as much as from 64 to 256.
double width(const Sample& a, const Sample& b) { return std::log2(b.writers) - std::log2(a.writers); }
double slope(const Sample& a, const Sample& b) { return std::log2(b.bytes_per_s / a.bytes_per_s) / width(a, b); }

/// Returns the gap, by the sample on its left, where a curve through the samples may be most wrong. That gap is wide,
/// and has another slope than its neighbours. None: all counts between the samples are known.
std::optional<std::size_t> most_bent_gap(const std::vector<Sample>& samples) {
  std::optional<std::size_t> most;
  double worst = -1;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    if (samples[i + 1].writers - samples[i].writers < 2) continue;
    const double own = slope(samples[i], samples[i + 1]);
    double bend = kUnseen;
    if (i > 0) bend += std::abs(own - slope(samples[i - 1], samples[i]));
    if (i + 2 < samples.size()) bend += std::abs(own - slope(samples[i + 1], samples[i + 2]));
    const double doubt = bend * width(samples[i], samples[i + 1]);
    if (doubt <= worst) continue;
    worst = doubt;
    most = i;
  }
  return most;
}

/// Returns the point between two counts on the straight line.
Sample middle_of(const Sample& a, const Sample& b) {
  const auto middle = static_cast<unsigned>(std::lround(std::sqrt(static_cast<double>(a.writers) * b.writers)));
  const unsigned writers = std::clamp(middle, a.writers + 1, b.writers - 1);
  return {writers, a.bytes_per_s * std::exp2(slope(a, b) * width(a, {writers, 0}))};
}

}  // namespace

std::vector<unsigned> counts_to_measure(unsigned max_writers) {
  if (max_writers == 0 || max_writers > kMaxModelledWriters) return {};
  const unsigned wanted = std::min(std::max((max_writers + 9) / 10, kFewestForSpline), max_writers);
  // With n counts from 1 on, the widest step that stays in the range reaches furthest. One more than `wanted` must not
  // fit.
  const unsigned step = wanted > 1 ? std::max((max_writers - 1) / (wanted - 1), 1U) : 1;
  std::vector<unsigned> counts;
  for (unsigned i = 0; i < wanted; ++i) counts.push_back(1 + i * step);
  return counts;
}

std::vector<unsigned> counts_to_measure_next(std::span<const Sample> samples, unsigned max_writers) {
  if (max_writers == 0 || max_writers > kMaxModelledWriters) return {};
  std::vector<unsigned> counts = counts_that_double(max_writers);
  if (samples.empty()) return counts;
  const std::size_t most =
      std::min<std::size_t>(std::max<std::size_t>((max_writers + 9) / 10, counts.size() + kFewestAtKnees), max_writers);
  if (samples.size() < 2 || samples.size() >= most) return {};
  std::vector<Sample> known(samples.begin(), samples.end());
  counts.clear();
  for (std::size_t left = (most - samples.size() + 1) / 2; left > 0; --left) {
    const auto gap = most_bent_gap(known);
    if (!gap) break;
    const Sample between = middle_of(known[*gap], known[*gap + 1]);
    counts.push_back(between.writers);
    known.insert(known.begin() + static_cast<std::ptrdiff_t>(*gap) + 1, between);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

namespace {

void compare(Accuracy& result, unsigned writers, double predicted, double measured) {
  const double error = std::abs(predicted - measured) / measured;
  result.mean_error += error;  // the sum, until all are compared
  ++result.compared;
  if (result.worst_writers != 0 && error <= result.worst_error) return;
  result.worst_error = error;
  result.worst_writers = writers;
}

bool comparable(const Sample& sample) {
  return sample.writers > 0 && std::isfinite(sample.bytes_per_s) && sample.bytes_per_s > 0;
}

Accuracy mean_of(Accuracy sums) {
  if (sums.compared > 0) sums.mean_error /= static_cast<double>(sums.compared);
  return sums;
}

}  // namespace

Accuracy accuracy(const DeviceModel& model, std::span<const Sample> measured) {
  Accuracy result;
  for (const Sample& sample : measured)
    if (comparable(sample)) compare(result, sample.writers, model.bytes_per_s(sample.writers), sample.bytes_per_s);
  return mean_of(result);
}

Accuracy repeatability(std::span<const Sample> once, std::span<const Sample> again) {
  Accuracy result;
  for (const Sample& second : again)
    for (const Sample& first : once)
      if (first.writers == second.writers && comparable(first) && comparable(second))
        compare(result, first.writers, first.bytes_per_s, second.bytes_per_s);
  return mean_of(result);
}

}  // namespace perdure::placement
