#pragma once
// How long a checkpoint stops the ranks when its bytes are a part of an array, beside the same bytes as a region of
// the rank's own.
#include <nlohmann/json_fwd.hpp>

#include "job.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

struct Blocking {
  Places places;
  std::uint64_t bytes = 64U << 20;  ///< of a rank
  std::uint64_t boxes = 1;          ///< of a rank
  int repetitions = 7;
};

/// [collective]
base::Result<nlohmann::json> blocking(const Blocking& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
