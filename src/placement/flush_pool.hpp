#pragma once
// Decides how many threads of a node flush now (VeloC IPDPS'19, IV-A and Algorithm 3: the elastic pool). Knows no clock
// and no thread.
//
// The pool grows with the waiting chunks, up to the limit. A thread that adds no bandwidth is stopped (ThreadSearch),
// and so are those beyond the application's budget (SlowdownBudget). This does not hold while a request waits for
// slots: a waiting checkpoint stops the application altogether, which outweighs any slow-down.
#include <cstdint>

#include "placement/slowdown_budget.hpp"
#include "placement/thread_search.hpp"

namespace perdure::placement {

struct FlushPoolView {
  double now_s = 0;  ///< never goes back
  unsigned running = 0;
  unsigned limit = 1;
  std::uint64_t chunks = 0;  ///< to be flushed, including those under way
  /// A producer waits for a slot, or a request for the end of a flush (a level, a drain).
  bool somebody_waits = false;
  Pressure pressure = {};
};

class FlushPool {
 public:
  using Answer = SlowdownBudget::Answer;

  /// Begins with `first` threads while nothing is known of the store.
  explicit FlushPool(unsigned first = ThreadSearch::kFirst) : search_(first) {}

  void observe(double now_s, double threads, double bytes_per_s) { search_.observe(now_s, threads, bytes_per_s); }

  /// Returns how many threads may run now. If more run, threads that finish a chunk take no other. The number is never
  /// 0 for good while there are chunks, and never 0 while a request waits.
  Answer decide(const FlushPoolView& view);
  /// Reports that the last running thread has ended its chunk.
  void idle(double now_s) { budget_.idle(now_s); }

  const ThreadSearch& search() const { return search_; }

 private:
  ThreadSearch search_;
  SlowdownBudget budget_;
};

}  // namespace perdure::placement
