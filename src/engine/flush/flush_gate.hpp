#pragma once
// The door that threads pass for every chunk they flush: so many are inside at once as placement::FlushPool says. Those
// that read a slow tier leave the store idle: others may be inside meanwhile, but no more write to the store.
#include <atomic>
#include <condition_variable>

#include "base/mutex.hpp"
#include "metrics/flush_rate.hpp"
#include "placement/flush_pool.hpp"

namespace perdure::engine {

/// Thread-safe. It has a lock of its own and calls nobody: threads that wait here, or change between reading and
/// storing, keep nobody from the ledger.
class FlushGate {
 public:
  /// What it goes by.
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

  /// Blocks until there is room, `given_up` is set and look_again() called, or shut() was. leave() belongs to it in
  /// every case. `reading`: it begins with reading a slow tier.
  Pass enter(bool reading, const std::atomic<bool>& given_up) PERDURE_EXCLUDES(mutex_);
  void leave(const Pass& pass) PERDURE_EXCLUDES(mutex_);
  /// It reads from now on.
  void reads(Pass& pass) PERDURE_EXCLUDES(mutex_);
  /// It writes to the store, as soon as there is room. Blocks like enter().
  void stores(Pass& pass, const std::atomic<bool>& given_up) PERDURE_EXCLUDES(mutex_);

  /// From now on it goes by this. Wakes nobody: those that wait see it when they look again.
  void see(const View& view) PERDURE_EXCLUDES(mutex_);
  void look_again() PERDURE_EXCLUDES(mutex_);
  void shut() PERDURE_EXCLUDES(mutex_);
  /// Somebody waits for what a flush will bring: then the application's budget does not count.
  void somebody_waits(bool waits) PERDURE_EXCLUDES(mutex_);
  void observe(const metrics::FlushRate::Observation& observation) PERDURE_EXCLUDES(mutex_);

  struct Status {
    unsigned inside = 0;
    unsigned waiting = 0;    ///< to enter, or to write to the store
    unsigned held_back = 0;  ///< to enter, although fewer than the limit are inside
  };
  Status status() const PERDURE_EXCLUDES(mutex_);

 private:
  enum class Wish { enter_to_read, enter_to_store, store_after_reading };
  /// Those that wait for the same, so that whoever makes room wakes one of each and not all.
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
  Line to_read_ PERDURE_GUARDED_BY(mutex_), to_store_ PERDURE_GUARDED_BY(mutex_);  // to enter
  Line has_read_ PERDURE_GUARDED_BY(mutex_);                                       // inside, to write to the store
  unsigned reading_ PERDURE_GUARDED_BY(mutex_) = 0;
  unsigned storing_ PERDURE_GUARDED_BY(mutex_) = 0;
  bool somebody_waits_ PERDURE_GUARDED_BY(mutex_) = false;
  bool shut_ PERDURE_GUARDED_BY(mutex_) = false;
};

}  // namespace perdure::engine
