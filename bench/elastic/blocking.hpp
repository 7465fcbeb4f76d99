#pragma once
// Measures how long a checkpoint blocks the ranks if its bytes are a part of an array, and if they are a rank's own
// region.
#include <nlohmann/json_fwd.hpp>

#include "job.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

struct Blocking {
  Places places;
  std::uint64_t bytes = 64U << 20;  ///< per rank
  std::uint64_t boxes = 1;          ///< per rank
  int repetitions = 7;
};

/// Runs it. [collective]
base::Result<nlohmann::json> blocking(const Blocking& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
