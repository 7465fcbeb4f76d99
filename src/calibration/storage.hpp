#pragma once
// Where models are kept, and whether one holds here.
#include <map>
#include <string>

#include "calibration/model_file.hpp"

namespace perdure::calibration {

Machine this_machine();
/// Of the file system that holds `path`, or its nearest parent that is there.
base::Result<Device> device_at(const std::string& path);

/// "perdure-models" beside the configuration file (PERDURE_CONFIG, or perdure.toml in `directory`); where there is
/// none, in the user's configuration directory ($XDG_CONFIG_HOME/perdure or ~/.config/perdure). PERDURE_NOT_FOUND
/// without HOME.
base::Result<std::string> model_directory(const std::map<std::string, std::string>& environment,
                                          const std::string& directory);
/// The same with the environment and working directory of this process.
base::Result<std::string> model_directory();
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

/// All of it, for an engine that wants to know how fast its tier at `slots` is: the model at `path` if there is one and
/// it holds here.
base::Result<placement::DeviceModel> load_model(const std::string& path, const std::string& slots);

}  // namespace perdure::calibration
