#pragma once
// Checkpoints with every scheme in turn, beside plain writes and sends of the same bytes.
#include <string>
#include <vector>

#include "outcome.hpp"
#include "protected_job.hpp"
#include "world.hpp"

namespace perdure::redundancy_bench {

struct LevelNode {
  std::uint64_t bytes = 64U << 20;  ///< of a rank
  int repetitions = 7;
  double flush_s = 2;  ///< as slow as this a node writes its bytes to the store; 0: without limit
  std::vector<std::string> schemes;
  JobOptions job;  ///< what all of them have in common

  std::uint64_t flush_bytes_per_s() const;
};

/// [collective]; the times are valid on all ranks.
base::Result<Times> measure(const LevelNode& settings, const micro::World& world, const std::string& directory);

}  // namespace perdure::redundancy_bench
