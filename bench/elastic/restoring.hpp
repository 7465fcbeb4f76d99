#pragma once
// Measures restores of an array that one job wrote. Other jobs, with as many or other numbers of ranks, restore it from
// memory or from the store.
#include <nlohmann/json_fwd.hpp>

#include "job.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

struct Restoring {
  Places places;
  std::vector<std::uint64_t> extents;
  bool beside_plain_read = false;  ///< also read the store's files plainly, alternating with the restore
};

/// Writes version 1. `drained`: waits until it is in the store; otherwise the job is to be killed. [collective]
base::Result<nlohmann::json> write(const Restoring& settings, const micro::World& world, bool drained);
/// Restores it and compares every element. The job is to be killed afterwards, so that the next one finds the same
/// data. [collective]
base::Result<nlohmann::json> restore(const Restoring& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
