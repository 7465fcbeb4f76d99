#pragma once
// Fits the models of DEEP-ER D5.4 (sections 3.2.1.1 and 4.1.1) to measurements by least squares. Errors are relative to
// the measurement, so that small sizes have the same weight as large ones. Pure.
#include "samples.hpp"

namespace perdure::bench {

/// A fixed cost and a rate. Both models have these two parameters, and differ in the errors that they minimise.
struct Fit {
  double constant_s = 0;  ///< latency, or overhead; never negative
  double bytes_per_s = 0;
  Residuals residuals;
  std::size_t samples = 0;
  double free_bytes = 0;  ///< bytes of each size that the constant covers
  double seconds(double bytes) const;
};

/// Fits t(n) = latency + n / bandwidth, with errors relative to the times. With `mtu_bytes` as in the paper's formula,
/// the latency covers the first packet, and the bandwidth counts for n - mtu (or 0).
Fitted<Fit> fit_time(const std::vector<Sample>& samples, double mtu_bytes = 0);
/// Fits B(n) = n / (t_overhead + n / B_max), with errors relative to the throughputs. Sizes must not be 0.
Fitted<Fit> fit_throughput(const std::vector<Sample>& samples);

}  // namespace perdure::bench
