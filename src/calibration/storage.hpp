#pragma once
// Where models are kept, and whether one holds here.
#include <string>

#include "calibration/model_file.hpp"

namespace perdure::calibration {

Machine this_machine();
/// Of the file system that holds `path`, or its nearest parent that is there.
base::Result<Device> device_at(const std::string& path);

/// In `directory`: config::model_root().
inline std::string model_path(const std::string& directory, const std::string& tier) {
  return directory + "/" + tier + ".json";
}

/// Makes the directory, replaces the file in one step.
base::Status save(const Calibration& calibration, const std::string& path);
/// Errors: PERDURE_NOT_FOUND, those of decode().
base::Result<Calibration> load(const std::string& path);

/// PERDURE_MISMATCH, with what differs, for a calibration of another machine or device. Chunks of another size and
/// another kernel are no other device.
base::Status holds_for(const Calibration& calibration, const Machine& machine, const Device& device);

/// PERDURE_CORRUPT for figures that no device has, although a curve goes through them.
base::Status plausible(const Calibration& calibration, const std::string& object);

struct Loaded {
  placement::DeviceModel model;
  std::uint64_t created_ns = 0;  ///< since 1970
};
/// The model with which an engine starts for its `tier` with slots at `slots`: the one at `path`, if it exists,
/// holds on this machine, and is plausible.
base::Result<Loaded> load_model(const std::string& path, const std::string& tier, const std::string& slots);

}  // namespace perdure::calibration
