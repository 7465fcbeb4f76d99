#include "calibration/storage.hpp"

#include <cstdlib>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::calibration {
namespace {

using base::fail;
using base::Result;
using base::Status;
using Environment = std::map<std::string, std::string>;

constexpr const char* kCalibrateHere = "calibrate here: perdure calibrate";

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status differs(const Calibration& calibration, const std::string& what, const std::string& there,
               const std::string& here) {
  return fail(PERDURE_MISMATCH, "calibration of tier " + calibration.tier,
              "it is of another " + what + ": '" + there.substr(0, 200) + "', here '" + here.substr(0, 200) + "'",
              kCalibrateHere);
}

}  // namespace

Machine this_machine() { return {os::host_name(), os::processor_name(), os::kernel_release(), os::cpu_count()}; }

Result<Device> device_at(const std::string& path) {
  PERDURE_TRY(std::string place, os::absolute_path(path));
  const std::string whole = place;
  while (place != "/" && !os::exists(place).value_or(false)) place = parent_of(place);
  PERDURE_TRY(auto space, os::space(place));
  return Device{whole, std::move(space.type), space.device_id};
}

Result<std::string> model_directory(const Environment& environment, const std::string& directory) {
  std::string file = value_of(environment, "PERDURE_CONFIG");
  const bool named = !file.empty();
  if (!named) file = "perdure.toml";
  if (!file.starts_with('/')) file = directory + "/" + file;
  if (named || os::exists(file).value_or(false)) return parent_of(file) + "/perdure-models";
  if (const std::string xdg = value_of(environment, "XDG_CONFIG_HOME"); !xdg.empty())
    return xdg + "/perdure/perdure-models";
  if (const std::string home = value_of(environment, "HOME"); !home.empty())
    return home + "/.config/perdure/perdure-models";
  return fail(PERDURE_NOT_FOUND, "directory of device models", "there is no configuration file, and HOME is not set",
              "name a directory with --directory, or a configuration file with PERDURE_CONFIG");
}

Result<std::string> model_directory() {
  Environment environment;
  for (const char* name : {"PERDURE_CONFIG", "XDG_CONFIG_HOME", "HOME"})
    if (const char* value = std::getenv(name)) environment.emplace(name, value);
  PERDURE_TRY(const std::string directory, os::absolute_path("."));
  return model_directory(environment, directory);
}

Status save(const Calibration& calibration, const std::string& path) {
  PERDURE_CHECK(os::make_directories(parent_of(path)));
  return os::write_file_atomically(path, base::as_bytes(encode(calibration)));
}

Result<Calibration> load(const std::string& path) {
  PERDURE_TRY(const auto content, os::read_file(path, kMaxFileBytes));
  return decode({reinterpret_cast<const char*>(content.data()), content.size()}, path);
}

Status holds_for(const Calibration& calibration, const Machine& machine, const Device& device) {
  if (calibration.machine.host != machine.host)
    return differs(calibration, "machine", calibration.machine.host, machine.host);
  if (calibration.machine.processor != machine.processor)
    return differs(calibration, "processor", calibration.machine.processor, machine.processor);
  if (calibration.device.file_system != device.file_system)
    return differs(calibration, "file system", calibration.device.file_system, device.file_system);
  // Memory file systems get their numbers in the order they are mounted; all of them are this machine's memory.
  if (device.file_system != "tmpfs" && calibration.device.device_id != device.device_id)
    return differs(calibration, "device", std::to_string(calibration.device.device_id),
                   std::to_string(device.device_id));
  return {};
}

Result<placement::DeviceModel> load_model(const std::string& path, const std::string& slots) {
  PERDURE_TRY(const auto calibration, load(path));
  PERDURE_TRY(const auto device, device_at(slots));
  PERDURE_CHECK(holds_for(calibration, this_machine(), device));
  return model_of(calibration);
}

}  // namespace perdure::calibration
