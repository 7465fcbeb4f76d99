#pragma once
// What the benchmark measured, and how it is printed.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::bench {

/// Seconds of the slowest rank, one entry per repetition.
struct Samples {
  std::vector<double> memcpy, fresh_write, store_write, blocking, flush, total, restore, empty_checkpoint, barrier;
  std::vector<double> around_nothing;  ///< as `blocking` is timed: what its barriers cost
};

struct Context {
  int ranks = 0;
  std::size_t bytes_per_rank = 0;
  std::string mode, tiers, capture, store;
  double first_blocking_s = 0;
  long first_faults = 0;
  std::string first_level;  ///< when the first call had returned
  std::size_t own_memory_bytes = 0;
};

/// One of the project's goals for speed and thrift.
struct Goal {
  std::string what, comparison;
  double value = 0, wanted = 0;
  bool met = false;
};
/// Judged from the figures of to_json().
std::vector<Goal> goals(const nlohmann::json& result);

nlohmann::json to_json(const Context& context, const Samples& samples);
void print_table(const nlohmann::json& result);

}  // namespace perdure::bench
