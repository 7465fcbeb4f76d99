#pragma once
// Runs cpex: every mode and chunk size over a sweep of sizes, and the models of D5.4, 4.1.2, from its parts.
#include "exchange.hpp"
#include "run.hpp"

namespace perdure::micro {

struct ExchangeSweep {
  Options common;
  std::vector<std::string> modes;  ///< names of ExchangeMode
  std::vector<std::uint64_t> chunk_bytes{1U << 20};
  int ranks_per_node = 1;  ///< on a simulated node
};

/// Measures everything, in `directory`. [collective]
base::Status measure(const ExchangeSweep& sweep, const World& world, const std::string& directory, Results& results);

}  // namespace perdure::micro
