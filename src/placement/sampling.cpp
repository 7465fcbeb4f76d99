#include "placement/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::placement {
namespace {

constexpr unsigned kFewestForSpline = 5;

}  // namespace

std::vector<unsigned> counts_to_measure(unsigned max_writers) {
  if (max_writers == 0 || max_writers > kMaxModelledWriters) return {};
  const unsigned wanted = std::min(std::max((max_writers + 9) / 10, kFewestForSpline), max_writers);
  // With n counts from 1 on, the widest step that stays in the range reaches furthest; one more than `wanted` must not
  // fit.
  const unsigned step = wanted > 1 ? std::max((max_writers - 1) / (wanted - 1), 1U) : 1;
  std::vector<unsigned> counts;
  for (unsigned i = 0; i < wanted; ++i) counts.push_back(1 + i * step);
  return counts;
}

std::vector<unsigned> counts_to_measure_closely(unsigned max_writers) {
  auto counts = counts_to_measure(max_writers);
  const auto wanted = static_cast<unsigned>(counts.size());
  const unsigned close = std::min(wanted * 3 / 5, wanted - std::min(wanted, kFewestForSpline - 1));
  if (close < 2 || wanted == max_writers) return counts;
  const unsigned step = (max_writers - close) / (wanted - close);
  for (unsigned i = 0; i < wanted; ++i) counts[i] = i < close ? i + 1 : close + (i + 1 - close) * step;
  return counts;
}

Accuracy accuracy(const DeviceModel& model, std::span<const Sample> measured) {
  Accuracy result;
  for (const Sample& sample : measured) {
    if (sample.writers == 0 || !std::isfinite(sample.bytes_per_s) || sample.bytes_per_s <= 0) continue;
    const double error = std::abs(model.bytes_per_s(sample.writers) - sample.bytes_per_s) / sample.bytes_per_s;
    result.mean_error += error;
    ++result.compared;
    if (result.worst_writers != 0 && error <= result.worst_error) continue;
    result.worst_error = error;
    result.worst_writers = sample.writers;
  }
  if (result.compared > 0) result.mean_error /= static_cast<double>(result.compared);
  return result;
}

}  // namespace perdure::placement
