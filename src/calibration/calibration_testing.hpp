#pragma once
// Makes calibrations for tests.
#include "calibration/model_file.hpp"

namespace perdure::calibration {

inline Calibration sample_calibration() {
  Calibration c;
  c.tier = "memory";
  c.machine = {"host", "processor", "6.1.0", 4};
  c.device = {"/dev/shm/perdure-0", "tmpfs", 25};
  c.created_ns = 1'700'000'000'000'000'000;
  c.chunk_bytes = 64U << 20U;
  c.max_writers = 60;
  c.repetitions = 3;
  for (unsigned k = 1; k <= 51; k += 10) {
    c.recycled.push_back({k, 1e9 + 1e7 * k});
    c.fresh.push_back({k, 5e8 + 1e7 * k});
  }
  return c;
}

}  // namespace perdure::calibration
