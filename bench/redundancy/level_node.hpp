#pragma once
// Measures checkpoints with every scheme in turn, beside plain writes and sends of the same bytes.
#include <string>
#include <vector>

#include "outcome.hpp"
#include "protected_job.hpp"
#include "world.hpp"

namespace perdure::redundancy_bench {

struct LevelNode {
  std::uint64_t bytes = 64U << 20;  ///< per rank
  int repetitions = 7;
  double flush_s = 2;  ///< a node takes this long to store its bytes; 0: without limit
  std::vector<std::string> schemes;
  JobOptions job;  ///< the common options of all jobs

  std::uint64_t flush_bytes_per_s() const;
};

/// Runs it; the times are valid on all ranks. [collective]
base::Result<Times> measure(const LevelNode& settings, const micro::World& world, const std::string& directory);

}  // namespace perdure::redundancy_bench
