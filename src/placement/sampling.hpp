#pragma once
// Which writer counts a calibration measures, and how good the model made of them is (VeloC IPDPS'19, IV-C and V-C).
// Pure.
#include <span>
#include <vector>

#include "placement/device_model.hpp"

namespace perdure::placement {

/// Equally spaced writer counts from 1 on, at most a tenth of 1..max_writers (rounded up), and no fewer than the model
/// needs (5, or all where there are fewer). Empty for 0 or more than kMaxModelledWriters.
std::vector<unsigned> counts_to_measure(unsigned max_writers);

/// As many, but three fifths of them one by one from 1 on, and the rest at equal steps from there: devices change most
/// with few writers, which a step of ten would miss. The same where the range is too small for that.
std::vector<unsigned> counts_to_measure_closely(unsigned max_writers);

/// Predicted against measured; errors are relative to what was measured.
struct Accuracy {
  double mean_error = 0;
  double worst_error = 0;
  unsigned worst_writers = 0;  ///< where that is; 0 when nothing was compared
  std::size_t compared = 0;
};

/// Samples that are no throughput are left out.
Accuracy accuracy(const DeviceModel& model, std::span<const Sample> measured);

}  // namespace perdure::placement
