#pragma once
// Runs pario through Perdure (D5.4, 4.1: scrio): checkpoints of growing size, with retention and without, beside plain
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

/// Makes series "pdrio" by retention: the checkpoint call, the time until level node (with a scheme), and until the
/// store. Series "pario" has a fresh file per rank; "parts" has sends to the next node and copies in memory. Adds
/// models, and with a scheme their composition as in the paper. [collective]
base::Status measure(const Pdrio& settings, const micro::World& world, const std::string& directory,
                     micro::Results& results);

}  // namespace perdure::redundancy_bench
