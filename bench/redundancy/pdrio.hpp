#pragma once
// pario through Perdure (D5.4, 4.1: scrio): checkpoints of growing size, with retention and without, beside plain
// files.
#include <string>

#include "options.hpp"
#include "protected_job.hpp"
#include "results.hpp"
#include "world.hpp"

namespace perdure::redundancy_bench {

struct Pdrio {
  micro::Options common;
  JobOptions job;
};

/// Series "pdrio": the checkpoint call, until level node (with a scheme) and until the store, by retention; "pario": a
/// fresh file per rank; and "parts": sends to the next node and copies in memory. With models, and with a scheme the
/// paper's composition of it. [collective]
base::Status measure(const Pdrio& settings, const micro::World& world, const std::string& directory,
                     micro::Results& results);

}  // namespace perdure::redundancy_bench
