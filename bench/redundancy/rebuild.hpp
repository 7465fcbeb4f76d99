#pragma once
// The loss of a node in two launches: one that is killed as soon as its checkpoint survives the loss of a node, and one
// on other nodes that restores it. What is destroyed between them is up to who starts them (bench/redundancy/run).
#include <nlohmann/json.hpp>
#include <string>

#include "protected_job.hpp"
#include "world.hpp"

namespace perdure::redundancy_bench {

using Json = nlohmann::ordered_json;

struct Rebuild {
  std::uint64_t bytes = 64U << 20;  ///< of a rank
  JobOptions job;
};

/// The first launch: {"level_node_s", "node_directories": of every rank that leads a node}. [collective]
base::Result<Json> keep(const Rebuild& settings, const micro::World& world);
/// The second: {"restore_s", "version", "reports", "memcpy_s": of one rank's bytes, alone}. Everything restored is
/// compared with what the first launch had. [collective]
base::Result<Json> restore(const Rebuild& settings, const micro::World& world);

}  // namespace perdure::redundancy_bench
