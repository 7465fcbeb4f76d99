#pragma once
// Measures the loss of a node in two launches. The first is killed as soon as its checkpoint survives the loss of a
// node. The second, on other nodes, restores it. The caller (bench/redundancy/run) destroys the node in between.
#include <nlohmann/json.hpp>
#include <string>

#include "protected_job.hpp"
#include "world.hpp"

namespace perdure::redundancy_bench {

using Json = nlohmann::ordered_json;

struct Rebuild {
  std::uint64_t bytes = 64U << 20;  ///< per rank
  JobOptions job;
};

/// Runs the first launch: {"level_node_s", "node_directories": of every rank that leads a node}. [collective]
base::Result<Json> keep(const Rebuild& settings, const micro::World& world);
/// Runs the second launch: {"restore_s", "version", "reports", "memcpy_s": of one rank's bytes, alone}. Compares
/// everything restored with the first launch's data. [collective]
base::Result<Json> restore(const Rebuild& settings, const micro::World& world);

}  // namespace perdure::redundancy_bench
