#pragma once
// Shows the result of `perdure calibrate` for one tier.
#include <optional>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "calibration/model_file.hpp"
#include "placement/sampling.hpp"

namespace perdure::cli {

struct Calibrated {
  calibration::Calibration calibration;
  bool emulated = false;                    ///< in virtual time; machine and device say nothing then
  std::vector<placement::Sample> measured;  ///< samples for every count of the range, with --check
  std::optional<placement::Accuracy> accuracy;
  placement::Accuracy repeatability;  ///< for the counts that were measured for the model, and again with --check
  std::string model_file, plot_file;  ///< empty: not written
};

/// A model with greater errors is not good enough (with --check).
inline constexpr double kMeanErrorBound = 0.05, kWorstErrorBound = 0.15;
bool good_enough(const placement::Accuracy& accuracy);

base::Json calibrated_json(const Calibrated& tier, const placement::DeviceModel& model);
/// Writes the heading, one row per measured count, where files went, and the accuracy.
std::string calibrated_text(const Calibrated& tier, const placement::DeviceModel& model);
std::string calibrated_svg(const Calibrated& tier, const placement::DeviceModel& model);

}  // namespace perdure::cli
