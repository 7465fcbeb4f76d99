#pragma once
// put and get: latency of one at a time, bandwidth of many through the rings of a channel.
#include <nlohmann/json.hpp>

#include "processes.hpp"

namespace perdure::bench {

struct TransferOptions {
  ProcessOptions process;
  std::vector<std::uint64_t> sizes;
  std::uint64_t repetitions = 0;  ///< per size; 0: by size
};

/// Per size: seconds of a put and a get alone (medians), bytes per second with as many under way as the rings hold.
base::Result<nlohmann::json> measure_transfers(const TransferOptions& options);

}  // namespace perdure::bench
