#pragma once
// Defines the result of a calibration and its file: JSON that names its machine and device. Data and codec; knows no
// file. docs/calibration.md describes the fields.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/device_model.hpp"

namespace perdure::calibration {

struct Machine {
  std::string host, processor, kernel;
  unsigned processors = 0;
};

/// The location of a tier's slots.
struct Device {
  std::string path;
  std::string file_system;  ///< "tmpfs", "ext4", ...
  std::uint64_t device_id = 0;
};

struct Calibration {
  std::string tier;
  Machine machine;
  Device device;
  std::uint64_t created_ns = 0;  ///< since 1970
  std::uint64_t chunk_bytes = 0;
  unsigned max_writers = 0;
  unsigned repetitions = 0;
  /// Medians, aggregates of the node in bytes/s. Recycled slots had been written before: the usual case, and the basis
  /// of the engine's model. Fresh slots get their memory or disk blocks with the first write; empty if a device does
  /// not tell them apart.
  std::vector<placement::Sample> recycled, fresh;
};

inline constexpr std::uint64_t kMaxFileBytes = 1U << 20U;

std::string encode(const Calibration& calibration);

/// Takes any input. Errors are about `object`: PERDURE_CORRUPT, or PERDURE_UNSUPPORTED for a newer format. The result
/// can be fitted.
base::Result<Calibration> decode(std::string_view text, const std::string& object);

/// Fits the spline through the recycled samples.
base::Result<placement::DeviceModel> model_of(const Calibration& calibration);

}  // namespace perdure::calibration
