#pragma once
// How many threads of a node flush now (VeloC IPDPS'19, IV-A and Algorithm 3: the elastic pool). Decides only; knows no
// clock and no thread.
//
// Threads appear with the chunks that wait, up to the limit. A thread that brings no more bandwidth is stopped
// (ThreadSearch), and all but as many as the application's budget allows (SlowdownBudget) - unless a request waits for
// slots: a checkpoint that waits stops the application altogether, which no slow-down can outweigh.
#include <cstdint>

#include "placement/slowdown_budget.hpp"
#include "placement/thread_search.hpp"

namespace perdure::placement {

struct FlushPoolView {
  double now_s = 0;  ///< never goes back
  unsigned running = 0;
  unsigned limit = 1;
  std::uint64_t chunks = 0;  ///< to be flushed, those under way included
  /// A producer waits for a slot, or a request for the end of a flush (a level, a drain).
  bool somebody_waits = false;
  Pressure pressure = {};
};

class FlushPool {
 public:
  using Answer = SlowdownBudget::Answer;

  /// The number of threads to begin with, while nothing is known of the store.
  explicit FlushPool(unsigned first = ThreadSearch::kFirst) : search_(first) {}

  /// As ThreadSearch::observe().
  void observe(double now_s, double threads, double bytes_per_s) { search_.observe(now_s, threads, bytes_per_s); }

  /// How many threads may run now. When more run, the next ones that end their chunk take no other. Never 0 for good
  /// while there are chunks, and never 0 while a request waits.
  Answer decide(const FlushPoolView& view);
  /// The last one that ran has ended its chunk.
  void idle(double now_s) { budget_.idle(now_s); }

  const ThreadSearch& search() const { return search_; }

 private:
  ThreadSearch search_;
  SlowdownBudget budget_;
};

}  // namespace perdure::placement
