#pragma once
// Measures the parities of a group in three ways. The server computes them. The group's own processes compute them, and
// read from one another as engines do with the scheme xor. Or messages go around their ring, as in the papers'
// distributed xor.
#include <nlohmann/json.hpp>

#include "processes.hpp"

namespace perdure::bench {

struct ComparisonOptions {
  ProcessOptions process;
  std::vector<unsigned> members;
  int repetitions = 5;
};

/// Returns for each number of members: seconds (medians), bytes of data per second, and processor seconds of the
/// members' processes. Adds the ratios server over xor and over ring.
base::Result<nlohmann::json> compare(const ComparisonOptions& options);

}  // namespace perdure::bench
