#pragma once
// What checkpoints with every scheme took, and what that is beside plain writes and sends. Pure.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::redundancy_bench {

using Json = nlohmann::ordered_json;

/// Seconds, one entry per repetition; of times, from the first rank's beginning to the last one's end.
struct SchemeTimes {
  std::string scheme;
  std::vector<double> blocking;  ///< the checkpoint call
  std::vector<double>
      level_node;  ///< from its beginning until the checkpoint survives the loss of a node; not `single`
  /// Processor time of all ranks' other threads meanwhile: the embedded engines'. 0 with daemons.
  std::vector<double> background_cpu;
};

struct Times {
  std::vector<double> memcpy, plain_write, plain_sends;
  std::vector<SchemeTimes> schemes;
};

/// Medians in seconds, and ratios: of each repetition by itself, of these the median, because machines are shared.
Json to_json(const Times& times);
std::string table(const Json& outcome);

}  // namespace perdure::redundancy_bench
