#pragma once
// Parities of a group: by the server; distributed among the group's own processes, which read from one another as
// engines do with the scheme xor; and by messages around their ring, as the papers' distributed xor.
#include <nlohmann/json.hpp>

#include "processes.hpp"

namespace perdure::bench {

struct ComparisonOptions {
  ProcessOptions process;
  std::vector<unsigned> members;
  int repetitions = 5;
};

/// Per number of members: seconds (medians), bytes of data per second, processor seconds of the members' processes, and
/// the ratios server over xor and over ring.
base::Result<nlohmann::json> compare(const ComparisonOptions& options);

}  // namespace perdure::bench
