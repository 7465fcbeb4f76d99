#pragma once
// The second driver: the real engine on emulated devices, in real time.
#include "driver.hpp"

namespace perdure::studies {

/// Chunks of 64 MiB become 64 KiB, the least that an engine takes.
inline constexpr double kEngineSizeScale = 1024;
/// See docs/results: at this the engine's own work is small against the emulated times.
inline constexpr double kEngineTimeScale = 0.03;

struct EngineDriverOptions {
  Scale scale{kEngineSizeScale, kEngineTimeScale};
  double patience_s = 180;  ///< real seconds that one run may take
  bool verify = false;      ///< restore after every run
};

/// Every run has processes and a directory of its own, of which nothing remains. Needs a process without other threads.
std::unique_ptr<Driver> engine_driver(const EngineDriverOptions& options);

}  // namespace perdure::studies
