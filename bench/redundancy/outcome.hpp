#pragma once
// Summarises the times of checkpoints with every scheme, relative to plain writes and sends. Pure.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::redundancy_bench {

using Json = nlohmann::ordered_json;

/// Seconds, one entry per repetition; from the first rank's begin to the last one's end.
struct SchemeTimes {
  std::string scheme;
  std::vector<double> blocking;  ///< the checkpoint call
  std::vector<double>
      level_node;  ///< from its begin until the checkpoint survives the loss of a node; not for `single`
  /// Processor time of all ranks' other threads meanwhile: the embedded engines'. 0 with daemons.
  std::vector<double> background_cpu;
};

struct Times {
  std::vector<double> memcpy, plain_write, plain_sends;
  std::vector<SchemeTimes> schemes;
};

/// Returns medians in seconds, and ratios. A ratio is the median over the ratios of single repetitions, because
/// machines are shared.
Json to_json(const Times& times);
std::string table(const Json& outcome);

}  // namespace perdure::redundancy_bench
