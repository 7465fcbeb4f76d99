#pragma once
// What a calibration found, and its file: JSON that says for which machine and device it holds. Data and codec; knows
// no file. docs/calibration.md describes the fields.
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

/// Where a tier's slots are.
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
  /// Medians, aggregates of the node in bytes/s. Recycled slots had been written before: the usual case, and what the
  /// engine's model is made of. Fresh ones get their memory or disk blocks with the first write; empty where a device
  /// does not tell them apart.
  std::vector<placement::Sample> recycled, fresh;
};

inline constexpr std::uint64_t kMaxFileBytes = 1U << 20U;

std::string encode(const Calibration& calibration);

/// Takes any input. Errors are about `object`: PERDURE_CORRUPT, PERDURE_UNSUPPORTED for a newer format. What is
/// returned can be fitted.
base::Result<Calibration> decode(std::string_view text, const std::string& object);

/// The spline through the recycled samples.
base::Result<placement::DeviceModel> model_of(const Calibration& calibration);

}  // namespace perdure::calibration
