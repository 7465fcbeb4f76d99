// No other translation unit includes Boost.
#include "placement/device_model.hpp"

#include <algorithm>
#include <boost/math/interpolators/cardinal_cubic_b_spline.hpp>
#include <boost/math/interpolators/pchip.hpp>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

namespace perdure::placement {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr double kDeepestSlump = -40, kNoSlump = -0.5, kSlump = -1;  // log2
constexpr double kDoubt = 0.1;                                       // of a slump, each time
constexpr unsigned kMaxRelapses = 6;
constexpr std::size_t kMinSplineSamples = 5;  // the spline needs so many to estimate the slopes at its ends

bool is_throughput(double value) { return std::isfinite(value) && value > 0 && value <= kMaxBytesPerS; }

Status refuse(const Sample& sample, std::string cause) {
  return fail(PERDURE_INVALID_ARGUMENT, "sample with " + std::to_string(sample.writers) + " writers", std::move(cause),
              "calibrate again");
}

Status check(std::span<const Sample> samples, unsigned max_writers) {
  if (max_writers == 0 || max_writers > kMaxModelledWriters)
    return fail(PERDURE_INVALID_ARGUMENT, "device model",
                "covers 1 to 65536 writers, not " + std::to_string(max_writers));
  const bool complete = samples.size() == max_writers;
  if (samples.empty() || (samples.size() < kMinSplineSamples && !complete))
    return fail(PERDURE_INVALID_ARGUMENT, "device model",
                "needs at least 5 samples, or one for every writer count; there are " + std::to_string(samples.size()),
                "calibrate again with more writer counts");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    if (sample.writers == 0) return refuse(sample, "a sample needs a writer");
    if (i > 0 && sample.writers <= samples[i - 1].writers)
      return refuse(sample, "the samples are not in ascending order");
  }
  if (samples.back().writers > max_writers) return refuse(samples.back(), "it is beyond the range of the model");
  for (const Sample& sample : samples)
    if (!is_throughput(sample.bytes_per_s)) return refuse(sample, "its throughput is no positive number of bytes/s");
  return {};
}

bool equally_spaced(std::span<const Sample> samples) {
  for (std::size_t i = 2; i < samples.size(); ++i)
    if (samples[i].writers - samples[i - 1].writers != samples[1].writers - samples[0].writers) return false;
  return true;
}

/// A spline can swing far beyond samples that jump; a device does not.
double within_reason(double value, double a, double b) {
  const double low = std::min(a, b) / 2, high = std::max(a, b) * 1.5;
  return std::isfinite(value) ? std::clamp(value, low, high) : (a + b) / 2;
}

/// Interpolates samples at any distances with a monotone cubic (PCHIP), over the logarithm of the count.
std::vector<double> evaluate_uneven(std::span<const Sample> samples, unsigned max_writers) {
  std::vector<double> x, y;
  for (const Sample& sample : samples) x.push_back(std::log2(sample.writers)), y.push_back(sample.bytes_per_s);
  const unsigned first = samples.front().writers, last = samples.back().writers;
  std::vector<double> table(max_writers, y.front());
  std::fill(table.begin() + last - 1, table.end(), y.back());
  const boost::math::interpolators::pchip<std::vector<double>> curve(std::move(x), std::move(y));
  for (unsigned writers = first; writers < last; ++writers) table[writers - 1] = curve(std::log2(writers));
  for (const Sample& sample : samples) table[sample.writers - 1] = sample.bytes_per_s;
  return table;
}

std::vector<double> evaluate(std::span<const Sample> samples, unsigned max_writers) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.bytes_per_s);
  const unsigned first = samples.front().writers, last = samples.back().writers;
  std::vector<double> table(max_writers, values.front());
  if (samples.size() < kMinSplineSamples) {
    std::copy(values.begin(), values.end(), table.begin());
    return table;
  }
  const unsigned step = samples[1].writers - first;
  const boost::math::interpolators::cardinal_cubic_b_spline<double> spline(values.begin(), values.end(), first, step);
  for (unsigned writers = first; writers <= max_writers; ++writers) {
    const std::size_t left = std::min<std::size_t>((writers - first) / step, values.size() - 2);
    const bool sampled = writers <= last && (writers - first) % step == 0;
    table[writers - 1] = writers > last ? values.back()
                         : sampled      ? values[(writers - first) / step]
                                        : within_reason(spline(writers), values[left], values[left + 1]);
  }
  return table;
}

}  // namespace

Result<DeviceModel> DeviceModel::fit(std::span<const Sample> samples, unsigned max_writers) {
  PERDURE_CHECK(check(samples, max_writers));
  try {  // the library throws to refuse; after the checks above it has no reason to
    return DeviceModel(equally_spaced(samples) ? evaluate(samples, max_writers) : evaluate_uneven(samples, max_writers),
                       true);
  } catch (const std::exception& refused) {
    return fail(PERDURE_INVALID_ARGUMENT, "device model", refused.what());
  }
}

DeviceModel DeviceModel::assumed(double bytes_per_s, unsigned max_writers) {
  const unsigned counts = std::clamp(max_writers, 1U, kMaxModelledWriters);
  return {std::vector<double>(counts, is_throughput(bytes_per_s) ? bytes_per_s : kAssumedBytesPerS), false};
}

double DeviceModel::bytes_per_s(unsigned writers) const {
  return table_[std::clamp<std::size_t>(writers, 1, table_.size()) - 1];
}

SweetSpot DeviceModel::sweet_spot(std::uint64_t most) const {
  const unsigned writers = sweet_[std::clamp<std::uint64_t>(most, 1, sweet_.size()) - 1];
  return {writers, table_[writers - 1]};
}

// The best throughput only grows with the allowed number of writers, so the sweet spot only moves up: one pass finds
// all.
void DeviceModel::find_sweet_spots() {
  sweet_.resize(table_.size());
  double best = 0;
  unsigned writers = 1;
  for (std::size_t most = 1; most <= table_.size(); ++most) {
    best = std::max(best, table_[most - 1]);
    while (table_[writers - 1] < kAsGoodAsBest * best) ++writers;
    sweet_[most - 1] = writers;
  }
}

void DeviceModel::change_slump(double log2) {
  slump_ += log2;
  const double factor = std::exp2(log2);
  for (double& value : table_) value = std::clamp(value * factor, 1.0, kMaxBytesPerS);
}

// Returns the part of an observed difference (log2) that belongs to the whole device, if readers explain so much.
// Without this, a tier that crawls with all ranks on it would still be predicted fast with fewer, and be taken again
// and again.
double DeviceModel::take_from_whole(double difference, double explained, double gain) {
  const double whole =
      difference < 0 ? std::min(difference + explained - kSlump, 0.0) : std::min(difference, -slump_ / gain);
  if (whole == 0) return 0;
  const double before = slump_;
  change_slump(std::clamp(gain * whole, kDeepestSlump - slump_, -slump_));
  if (before > kSlump && slump_ <= kSlump) relapses_ = std::min(relapses_ + 1, kMaxRelapses);
  if (whole > 0 && slump_ > kNoSlump) relapses_ = 0;
  return whole;
}

void DeviceModel::doubt() {
  if (slump_ == 0) return;
  change_slump(-slump_ * kDoubt / std::exp2(relapses_));
  find_sweet_spots();
}

// Works in logarithms, so that nothing becomes negative. Neighbours are those with a similar relative count: devices
// change quickly from 1 to 4 writers and slowly from 100 to 104. An uncalibrated curve has no shape to keep, so an
// observation reaches further.
void DeviceModel::observe(unsigned writers, double bytes_per_s, unsigned readers) {
  if (writers == 0 || !is_throughput(bytes_per_s)) return;
  ++observations_;
  const double reach = calibrated_ ? 0.25 : 1.0, gain = calibrated_ ? 0.1 : 0.3;
  const double centre = std::log2(std::min<double>(writers, max_writers()));
  const double seen = std::clamp(std::log2(bytes_per_s / this->bytes_per_s(writers)), -1 / gain, 1 / gain);
  const double difference = seen - take_from_whole(seen, std::log2(1 + static_cast<double>(readers) / writers), gain);
  const auto from = static_cast<unsigned>(std::max(1.0, std::floor(std::exp2(centre - 3 * reach))));
  const auto to = static_cast<unsigned>(std::min<double>(max_writers(), std::ceil(std::exp2(centre + 3 * reach))));
  for (unsigned k = from; k <= to; ++k) {
    const double distance = (std::log2(k) - centre) / reach;
    const double moved = table_[k - 1] * std::exp2(gain * difference * std::exp(-distance * distance));
    table_[k - 1] = std::clamp(moved, 1.0, kMaxBytesPerS);
  }
  find_sweet_spots();
}

}  // namespace perdure::placement
