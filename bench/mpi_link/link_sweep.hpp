#pragma once
// Measures the links of rounds of pairs over a sweep of sizes, and summarises them.
#include "ping.hpp"
#include "rounds.hpp"
#include "run.hpp"

namespace perdure::mpi_link {

struct LinkSweep {
  micro::Options common;
  std::string benchmark, mode;
  Pattern pattern = Pattern::pingpong;
  std::vector<Round> rounds;
  int iterations = 1000;                   ///< maximum within one repetition
  std::uint64_t volume_bytes = 32U << 20;  ///< one way and repetition; larger messages are sent less often
  double mtu_bytes = 0;

  int iterations_of(std::uint64_t bytes) const;
};

/// Makes a series for each pair, and one over all if there are several. [collective]
base::Status measure(const LinkSweep& sweep, const micro::World& world, micro::Results& results);

}  // namespace perdure::mpi_link
