#include "calibration/storage.hpp"

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::calibration {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr const char* kCalibrateHere = "calibrate here: perdure calibrate";
// The limits are a floppy disk, and a thousand times the memory of a node.
constexpr double kSlowestBytesPerS = 1e4, kFastestBytesPerS = 1e13;

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Text of a file goes into reports and logs: it must not forge their lines or drive a terminal.
std::string quoted(const std::string& text) {
  std::string shown = text.substr(0, 200);
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return "'" + shown + "'";
}

Status differs(const Calibration& calibration, const std::string& what, const std::string& there,
               const std::string& here) {
  return fail(PERDURE_MISMATCH, "calibration of tier " + quoted(calibration.tier),
              "it is of another " + what + ": " + quoted(there) + ", here " + quoted(here), kCalibrateHere);
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
  // Memory file systems are numbered in the order in which they are mounted; all of them are this machine's memory.
  if (device.file_system != "tmpfs" && calibration.device.device_id != device.device_id)
    return differs(calibration, "device", std::to_string(calibration.device.device_id),
                   std::to_string(device.device_id));
  return {};
}

Status plausible(const Calibration& calibration, const std::string& object) {
  for (const auto& sample : calibration.recycled)
    if (!(sample.bytes_per_s >= kSlowestBytesPerS && sample.bytes_per_s <= kFastestBytesPerS))
      return fail(PERDURE_CORRUPT, object,
                  "its throughput with " + std::to_string(sample.writers) + " writers is none that a device has",
                  kCalibrateHere);
  return {};
}

Result<Loaded> load_model(const std::string& path, const std::string& tier, const std::string& slots) {
  PERDURE_TRY(const auto calibration, load(path));
  if (calibration.tier != tier) return fail(differs(calibration, "tier", calibration.tier, tier).error());
  PERDURE_TRY(const auto device, device_at(slots));
  PERDURE_CHECK(holds_for(calibration, this_machine(), device));
  PERDURE_CHECK(plausible(calibration, path));
  PERDURE_TRY(auto model, model_of(calibration));
  return Loaded{std::move(model), calibration.created_ns};
}

}  // namespace perdure::calibration
