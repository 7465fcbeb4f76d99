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

/// What to measure next, ascending, after `samples` (ascending counts; none at first): counts that double, 1, 2, 4, ...
/// and max_writers, as devices change most with few writers; then, half of what may still be measured at a time, the
/// middles of the gaps where the curve bends most: its knees. At most a tenth of 1..max_writers in all, but always some
/// more than those that double. Empty when that is enough, and for 0 or more than kMaxModelledWriters.
std::vector<unsigned> counts_to_measure_next(std::span<const Sample> samples, unsigned max_writers);

/// Predicted against measured; errors are relative to what was measured.
struct Accuracy {
  double mean_error = 0;
  double worst_error = 0;
  unsigned worst_writers = 0;  ///< where that is; 0 when nothing was compared
  std::size_t compared = 0;
};

/// Samples that are no throughput are left out.
Accuracy accuracy(const DeviceModel& model, std::span<const Sample> measured);
/// How far the counts that were measured twice differ: what no model of the device can do better than.
Accuracy repeatability(std::span<const Sample> once, std::span<const Sample> again);

}  // namespace perdure::placement
