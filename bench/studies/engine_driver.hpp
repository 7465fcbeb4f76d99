#pragma once
// Implements the second driver: the real engine on emulated devices, in real time.
#include "driver.hpp"

namespace perdure::studies {

/// Chunks of 64 MiB become 64 KiB, the minimum of an engine.
inline constexpr double kEngineSizeScale = 1024;
/// See docs/results: at this scale the engine's own work is small compared with the emulated times.
inline constexpr double kEngineTimeScale = 0.03;

struct EngineDriverOptions {
  Scale scale{kEngineSizeScale, kEngineTimeScale};
  double patience_s = 180;  ///< limit of one run in real seconds
  bool verify = false;      ///< restore after every run
};

/// Every run has its own processes and directory, and leaves nothing behind. The calling process must have no other
/// threads.
std::unique_ptr<Driver> engine_driver(const EngineDriverOptions& options);

}  // namespace perdure::studies
