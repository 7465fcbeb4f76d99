#pragma once
// Stores models, and checks whether one holds on this machine.
#include <string>

#include "calibration/model_file.hpp"

namespace perdure::calibration {

Machine this_machine();
/// Describes the file system that holds `path`, or its nearest existing parent.
base::Result<Device> device_at(const std::string& path);

/// `directory` is config::model_root().
inline std::string model_path(const std::string& directory, const std::string& tier) {
  return directory + "/" + tier + ".json";
}

/// Makes the directory, and replaces the file in one step.
base::Status save(const Calibration& calibration, const std::string& path);
/// Fails with PERDURE_NOT_FOUND, or an error of decode().
base::Result<Calibration> load(const std::string& path);

/// PERDURE_MISMATCH names the difference if the calibration is of another machine or device. Another chunk size or
/// kernel does not matter.
base::Status holds_for(const Calibration& calibration, const Machine& machine, const Device& device);

/// PERDURE_CORRUPT for figures that no device has, although a curve goes through them.
base::Status plausible(const Calibration& calibration, const std::string& object);

struct Loaded {
  placement::DeviceModel model;
  std::uint64_t created_ns = 0;  ///< since 1970
};
/// Loads the model with which an engine starts for its `tier` with slots at `slots`. It is the one at `path`, if that
/// exists, holds on this machine, and is plausible.
base::Result<Loaded> load_model(const std::string& path, const std::string& tier, const std::string& slots);

}  // namespace perdure::calibration
