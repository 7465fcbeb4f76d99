#pragma once
// Provides the common part of every microbenchmark's main(): printing and exit status.
#include "options.hpp"
#include "results.hpp"
#include "world.hpp"

namespace perdure::micro {

/// Prints on rank 0 the requested output, or the error. Returns the exit status, the same on all ranks.
int finish(const World& world, const Options& options, const base::Status& outcome, const Results& results);

/// Shows the progress of a run on rank 0.
class Progress {
 public:
  Progress(const World& world, std::size_t steps) : shown_(world.rank() == 0), steps_(static_cast<int>(steps)) {}
  void step();

 private:
  bool shown_;
  int done_ = 0, steps_;
};

}  // namespace perdure::micro
