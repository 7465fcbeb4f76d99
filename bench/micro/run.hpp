#pragma once
// What is the same in every microbenchmark's main(): printing, and how it ends.
#include "options.hpp"
#include "results.hpp"
#include "world.hpp"

namespace perdure::micro {

/// Prints on rank 0 what the options ask for, or why there is nothing; the exit status, the same on all ranks.
int finish(const World& world, const Options& options, const base::Status& outcome, const Results& results);

/// How far a run is, as rank 0 shows it.
class Progress {
 public:
  Progress(const World& world, std::size_t steps) : shown_(world.rank() == 0), steps_(static_cast<int>(steps)) {}
  void step();

 private:
  bool shown_;
  int done_ = 0, steps_;
};

}  // namespace perdure::micro
