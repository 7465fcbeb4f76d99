#pragma once
// Provides the clock of the engine's observations.
#include "os/system.hpp"

namespace perdure::engine {

/// Seconds that never go back.
inline double now_s() { return static_cast<double>(os::monotonic_ns()) * 1e-9; }

}  // namespace perdure::engine
