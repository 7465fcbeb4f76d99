#pragma once
// Parities of a group: by the server, and distributed among the group's own processes.
#include <nlohmann/json.hpp>

#include "processes.hpp"

namespace perdure::bench {

struct ComparisonOptions {
  ProcessOptions process;
  std::vector<unsigned> members;
  int repetitions = 5;
};

/// Per number of members: seconds (medians), bytes of data per second, processor seconds of the members' processes, and
/// the ratios server over xor.
base::Result<nlohmann::json> compare(const ComparisonOptions& options);

}  // namespace perdure::bench
