#pragma once
// The models of DEEP-ER D5.4 (sections 3.2.1.1 and 4.1.1), fitted by least squares to what was measured. Errors
// count relative to the measurement, so that small sizes say as much as large ones. Pure.
#include "samples.hpp"

namespace perdure::bench {

/// A fixed cost and a rate: both models have these two parameters, and differ in whose errors are made least.
struct Fit {
  double constant_s = 0;  ///< latency, or overhead; never negative
  double bytes_per_s = 0;
  Residuals residuals;
  std::size_t samples = 0;
  double free_bytes = 0;  ///< of each size, what the constant covers
  double seconds(double bytes) const;
};

/// t(n) = latency + n / bandwidth, errors relative to the times. With `mtu_bytes` as in the paper's formula: the
/// latency covers the first packet, n - mtu (or 0) is what the bandwidth counts for.
Fitted<Fit> fit_time(const std::vector<Sample>& samples, double mtu_bytes = 0);
/// B(n) = n / (t_overhead + n / B_max), errors relative to the throughputs. Sizes must not be 0.
Fitted<Fit> fit_throughput(const std::vector<Sample>& samples);

}  // namespace perdure::bench
