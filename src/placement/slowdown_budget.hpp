#pragma once
// Limits flush threads so that the application slows down no more than it allowed. Knows no clock.
//
// The measure is the slow-down while a flush runs. Fewer threads flush longer, so the total time lost hardly changes,
// only how much of it is lost at once. Each thread counts as costing the same part of every second. Threads that ran
// beyond the budget because a checkpoint waited are no evidence against the budget. If one thread alone is too much, it
// rests after each chunk until its average cost is within the budget. An estimate counts after enough new steps since
// the number of threads changed.
#include <cstdint>
#include <limits>
#include <optional>

namespace perdure::placement {

/// The estimate of the application (metrics::StepTime).
struct Pressure {
  double max_slowdown = 0;          ///< as a fraction; 0: no limit
  std::optional<double> slowdown;   ///< while a flush runs; nothing: unknown
  std::optional<double> at_least;   ///< without what may be chance: only this can exceed the budget
  double threads = 0;               ///< threads that flushed at once then; 0: as many as were allowed
  std::uint64_t steps = 0;          ///< seen so far; 0: it did not begin, or is gone
  std::uint64_t flushed_steps = 0;  ///< how many of them show the cost of a flush
};

class SlowdownBudget {
 public:
  static constexpr double kLongestPauseS = 60;                       ///< then a chunk is flushed whatever it costs
  static constexpr std::uint64_t kNewSteps = 6;                      ///< flushed ones that make an estimate current
  static constexpr double kComfort = 0.7;                            ///< of the budget: below, it tries one thread more
  static constexpr double kFirstRetryS = 60, kLongestRetryS = 3840;  ///< until it tries again a number that was too
                                                                     ///< high
  /// If flushes always run, the slow-down is unknown. Then flushes pause for a few steps after this many, and twice as
  /// many each time, to get steps to compare with.
  static constexpr std::uint64_t kFirstListen = 8, kLongestListen = 128, kListenSteps = 4;

  struct Answer {
    unsigned threads = 0;
    double again_s = std::numeric_limits<double>::infinity();  ///< ask again then, if nothing happens before
  };
  /// Returns how many of the `wanted` threads may run; `running` are at work.
  Answer threads(double now_s, const Pressure& pressure, unsigned wanted, unsigned running);
  /// Reports that no thread is at work any more.
  void idle(double now_s);
  /// Reports that threads work because somebody waits: these cause no rest.
  void hurried() { began_s_ = -1; }

 private:
  void judge(double now_s, const Pressure& pressure, unsigned wanted);
  bool listens(double now_s, const Pressure& pressure);
  Answer paused(double now_s, unsigned running, double until_s);
  Answer paced(double now_s, unsigned running);
  void fit(double threads, unsigned ran);

  static constexpr unsigned kAll = std::numeric_limits<unsigned>::max();
  unsigned allowed_ = kAll, too_many_ = kAll;  // too_many_: the fewest that exceeded the budget
  double duty_ = 1;                            // the part of the time in which a single thread may run
  double began_s_ = -1;                        // when its running chunk began; below 0: none runs
  double rests_until_s_ = 0;                   // for a single thread
  std::uint64_t changed_at_ = 0;               // flushed steps at the last change of allowed_ or duty_
  double retry_s_ = 0, retry_after_s_ = kFirstRetryS;
  double last_ran_s_ = -1;  // when a thread last ran, in this pause; below 0: there is no pause
  std::uint64_t listen_at_ = kFirstListen, listen_every_ = kFirstListen;  // steps
  double listen_until_s_ = -1;                                            // below 0: it does not listen
};

}  // namespace perdure::placement
