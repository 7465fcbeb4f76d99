#pragma once
// Summarises the benchmark's measurements, and prints them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::bench {

/// Seconds of the slowest rank, one entry per repetition.
struct Samples {
  std::vector<double> memcpy, fresh_write, store_write, blocking, flush, total, restore, empty_checkpoint, barrier;
  std::vector<double> around_nothing;  ///< measured like `blocking`: the cost of its barriers
};

struct Context {
  int ranks = 0;
  std::size_t bytes_per_rank = 0;
  std::string mode, tiers, capture, store;
  double first_blocking_s = 0;
  long first_faults = 0;
  std::string first_level;  ///< after the first call had returned
  std::size_t own_memory_bytes = 0;
};

/// One of the project's goals for speed and resource use.
struct Goal {
  std::string what, comparison;
  double value = 0, wanted = 0;
  bool met = false;
};
/// Compares the figures of to_json() with the goals.
std::vector<Goal> goals(const nlohmann::json& result);

nlohmann::json to_json(const Context& context, const Samples& samples);
void print_table(const nlohmann::json& result);

}  // namespace perdure::bench
