#pragma once
// Runs the loop that is the same for every system: fill, references, checkpoint, wait, restore, compare.
#include <map>
#include <string>
#include <vector>

#include "back_end.hpp"

namespace perdure::peers_bench {

struct LoopSettings {
  std::size_t bytes = 256U << 20;  ///< per rank
  int repetitions = 7;             ///< counted ones, after one warm-up
};

/// Seconds by operation, one entry per counted repetition. `stored` and `durable` count from the checkpoint's begin.
using Times = std::map<std::string, std::vector<double>>;

class MeasuredLoop {
 public:
  MeasuredLoop(BackEnd& system, const LoopSettings& settings, const Place& place);
  /// Runs everything from initialise() to finish(). Compares the restored data with the captured data, byte by byte.
  /// [collective]
  Outcome run();
  const Times& times() const { return times_; }
  /// Returns the blocking time of the warm-up.
  double first_blocking_s() const { return first_blocking_s_; }

 private:
  Outcome repeat(int version, Times& times);
  Outcome references(Times& times, bool store_now);
  Outcome checkpoint(int version, Times& times);
  Outcome restore(int version, Times& times);
  Outcome write(const std::string& prefix, bool sync, std::vector<double>& seconds);
  /// Synchronises all ranks, if the measured time is so long that a barrier is negligible.
  void meet() const;

  BackEnd& system_;
  const LoopSettings settings_;
  const Place place_;
  int rank_ = 0, ranks_ = 1;
  std::vector<char> memory_, warm_;
  Times times_;
  double first_blocking_s_ = 0;
};

}  // namespace perdure::peers_bench
