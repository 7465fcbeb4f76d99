#pragma once
// Measures how long one node of a large job needs to plan its reads, alone and on one core.
#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace perdure::elastic_bench {

struct Planning {
  std::uint64_t writers = 16'384, readers = 10'000, per_node = 8;
  std::uint64_t extent = 4096;  ///< of the array, in each of three dimensions
  std::uint64_t chunk_bytes = 8U << 20;
  std::uint64_t nodes = 16;  ///< number of planned nodes, spread over the job; the slowest counts
};

base::Result<nlohmann::json> plan_restore(const Planning& settings);

}  // namespace perdure::elastic_bench
