#pragma once
// One job writes an array, others of as many or of other numbers of ranks restore it, out of memory or from the store.
#include <nlohmann/json_fwd.hpp>

#include "job.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

struct Restoring {
  Places places;
  std::vector<std::uint64_t> extents;
  bool beside_plain_read = false;  ///< the store's files are read plainly, too, in turn with the restore
};

/// Writes version 1. `drained`: and waits until it is at the store, else the job is to be killed. [collective]
base::Result<nlohmann::json> write(const Restoring& settings, const micro::World& world, bool drained);
/// Restores it and compares every element; the job is to be killed afterwards, so that the next one finds what this one
/// found. [collective]
base::Result<nlohmann::json> restore(const Restoring& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
