#pragma once
// Chooses the writer counts that a calibration measures, and rates the resulting model (VeloC IPDPS'19, IV-C and V-C).
// Pure.
#include <span>
#include <vector>

#include "placement/device_model.hpp"

namespace perdure::placement {

/// Returns equally spaced writer counts from 1 on, at most a tenth of 1..max_writers (rounded up). The model needs at
/// least 5, or all if there are fewer. Empty for 0 or more than kMaxModelledWriters.
std::vector<unsigned> counts_to_measure(unsigned max_writers);

/// Returns the counts to measure next, ascending, after `samples` (ascending counts; none at first). First come counts
/// that double, 1, 2, 4, ... and max_writers, as devices change most with few writers. Then come the middles of the
/// gaps where the curve bends most, its knees, half of the remaining budget at a time. The budget is a tenth of
/// 1..max_writers in all, but always some more than those that double. Empty when the budget is used, and for 0 or more
/// than kMaxModelledWriters.
std::vector<unsigned> counts_to_measure_next(std::span<const Sample> samples, unsigned max_writers);

/// Compares predicted with measured figures; errors are relative to the measured ones.
struct Accuracy {
  double mean_error = 0;
  double worst_error = 0;
  unsigned worst_writers = 0;  ///< the count of the worst error; 0 if nothing was compared
  std::size_t compared = 0;
};

/// Leaves out invalid samples.
Accuracy accuracy(const DeviceModel& model, std::span<const Sample> measured);
/// Compares counts that were measured twice: no model of the device can be better than that difference.
Accuracy repeatability(std::span<const Sample> once, std::span<const Sample> again);

}  // namespace perdure::placement
