#pragma once
// Limits how many threads flush chunks at a time, as placement::FlushPool decides. Threads that read a slow tier leave
// the store idle. Others may then be inside beside them, but the limit on writers to the store holds.
#include <atomic>
#include <condition_variable>

#include "base/mutex.hpp"
#include "metrics/flush_rate.hpp"
#include "placement/flush_pool.hpp"

namespace perdure::engine {

/// Thread-safe. It has its own lock and calls nobody, so threads that wait here do not block the ledger.
class FlushGate {
 public:
  /// The state that the gate decides by.
  struct View {
    placement::Pressure pressure = {};
    bool slots_wanted = false;  ///< producers will want slots
  };
  /// A thread between enter() and leave().
  struct Pass {
    bool reading = false;
  };

  /// At most `limit` threads write to the store.
  explicit FlushGate(unsigned limit) : limit_(limit), pool_(limit) {}

  /// Blocks until there is room, shut() was called, or `given_up` is set and look_again() called. Call leave()
  /// afterwards in every case. `reading`: the thread begins with reading a slow tier.
  Pass enter(bool reading, const std::atomic<bool>& given_up) PERDURE_EXCLUDES(mutex_);
  void leave(const Pass& pass) PERDURE_EXCLUDES(mutex_);
  /// The thread reads from now on.
  void reads(Pass& pass) PERDURE_EXCLUDES(mutex_);
  /// The thread writes to the store as soon as there is room. Blocks like enter().
  void stores(Pass& pass, const std::atomic<bool>& given_up) PERDURE_EXCLUDES(mutex_);

  /// Decides by this view from now on. Wakes no thread: waiting threads see it when they look again.
  void see(const View& view) PERDURE_EXCLUDES(mutex_);
  void look_again() PERDURE_EXCLUDES(mutex_);
  void shut() PERDURE_EXCLUDES(mutex_);
  /// Somebody waits for the result of a flush. While that is so, the application's slowdown budget does not count.
  void somebody_waits(bool waits) PERDURE_EXCLUDES(mutex_);
  void observe(const metrics::FlushRate::Observation& observation) PERDURE_EXCLUDES(mutex_);

  struct Status {
    unsigned inside = 0;
    unsigned waiting = 0;    ///< to enter, or to write to the store
    unsigned held_back = 0;  ///< wait to enter although fewer than the limit are inside
  };
  Status status() const PERDURE_EXCLUDES(mutex_);

 private:
  enum class Wish { enter_to_read, enter_to_store, store_after_reading };
  /// Threads that wait for the same thing. Whoever makes room wakes one thread of each line, not all of them.
  struct Line {
    std::condition_variable changed;
    unsigned waiting = 0;
  };
  bool may(Wish wish, unsigned threads) const PERDURE_REQUIRES(mutex_);
  Line& line(Wish wish) PERDURE_REQUIRES(mutex_);
  void await(Wish wish, base::Lock& lock, const std::atomic<bool>& given_up) PERDURE_REQUIRES(mutex_);
  void room() PERDURE_REQUIRES(mutex_);
  void wake_all() PERDURE_REQUIRES(mutex_);
  unsigned inside() const PERDURE_REQUIRES(mutex_) { return reading_ + storing_; }
  unsigned outside() const PERDURE_REQUIRES(mutex_) { return to_read_.waiting + to_store_.waiting; }

  const unsigned limit_;
  mutable base::Mutex mutex_;
  placement::FlushPool pool_ PERDURE_GUARDED_BY(mutex_);
  View view_ PERDURE_GUARDED_BY(mutex_);
  Line to_read_ PERDURE_GUARDED_BY(mutex_), to_store_ PERDURE_GUARDED_BY(mutex_);  // wait to enter
  Line has_read_ PERDURE_GUARDED_BY(mutex_);  // inside; waits to write to the store
  unsigned reading_ PERDURE_GUARDED_BY(mutex_) = 0;
  unsigned storing_ PERDURE_GUARDED_BY(mutex_) = 0;
  bool somebody_waits_ PERDURE_GUARDED_BY(mutex_) = false;
  bool shut_ PERDURE_GUARDED_BY(mutex_) = false;
};

}  // namespace perdure::engine
