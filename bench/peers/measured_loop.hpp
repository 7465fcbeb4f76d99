#pragma once
// The loop that every system goes through: fill, references, checkpoint, wait, restore, compare.
#include <map>
#include <string>
#include <vector>

#include "back_end.hpp"

namespace perdure::peers_bench {

struct LoopSettings {
  std::size_t bytes = 256U << 20;  ///< per rank
  int repetitions = 7;             ///< counted ones, after one to warm up
};

/// Seconds, by what took them, one of each counted repetition. `stored` and `durable` are from the checkpoint's begin
/// on.
using Times = std::map<std::string, std::vector<double>>;

class MeasuredLoop {
 public:
  MeasuredLoop(BackEnd& system, const LoopSettings& settings, const Place& place);
  /// From initialise() to finish(). What was restored is compared with what was captured, byte by byte. [collective]
  Outcome run();
  const Times& times() const { return times_; }
  /// The blocking of the repetition that warmed up.
  double first_blocking_s() const { return first_blocking_s_; }

 private:
  Outcome repeat(int version, Times& times);
  Outcome references(Times& times, bool store_now);
  Outcome checkpoint(int version, Times& times);
  Outcome restore(int version, Times& times);
  Outcome write(const std::string& prefix, bool sync, std::vector<double>& seconds);
  /// Lets all ranks come together, where what is measured is long enough for that not to count.
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
