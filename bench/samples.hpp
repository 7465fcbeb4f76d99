#pragma once
// Defines the samples that models are fitted to. Pure.
#include <cmath>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace perdure::bench {

/// `bytes` took `seconds`, or a rate of bytes / seconds was reached.
struct Sample {
  double bytes = 0;
  double seconds = 0;
};

/// |model - measurement| / measurement: 0.05 is 5 %.
struct Residuals {
  double mean = 0, worst = 0;
};

/// A fit, or why there is none: which measurement is unsuitable, and the remedy.
template <class T>
using Fitted = tl::expected<T, std::string>;

/// Returns why these samples cannot be fitted; empty if they can.
std::string defect_of(const std::vector<Sample>& samples, std::size_t sizes_needed, bool zero_size_allowed);

/// Summarises the absolute `relative_error` of each sample.
template <class RelativeError>
Residuals residuals_of(const std::vector<Sample>& samples, RelativeError relative_error) {
  Residuals result;
  for (const Sample& sample : samples) {
    const double error = std::abs(relative_error(sample));
    result.mean += error / static_cast<double>(samples.size());
    result.worst = std::fmax(result.worst, error);
  }
  return result;
}

}  // namespace perdure::bench
