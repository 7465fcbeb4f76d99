#pragma once
// Measures put and get: the latency of one at a time, and the bandwidth of many through the rings of a channel.
#include <nlohmann/json.hpp>

#include "processes.hpp"

namespace perdure::bench {

struct TransferOptions {
  ProcessOptions process;
  std::vector<std::uint64_t> sizes;
  std::uint64_t repetitions = 0;  ///< per size; 0: depends on the size
};

/// Returns for each size: seconds of a put and a get alone (medians), and bytes per second with the rings full of
/// requests.
base::Result<nlohmann::json> measure_transfers(const TransferOptions& options);

}  // namespace perdure::bench
