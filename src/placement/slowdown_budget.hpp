#pragma once
// How many threads may flush without slowing down the application more than it allowed. Knows no clock.
//
// What counts is the slow-down while a flush runs: fewer threads flush longer, so that the total time lost hardly
// changes, only how much of it is lost at once. Each thread counts as costing the same part of every second: threads
// that ran beyond the budget because a checkpoint waited are no evidence against the budget. Where one thread alone is
// too much it rests after each chunk, so long that what it costs is within the budget on average. An estimate is
// believed when enough new steps are in it since the number of threads changed.
#include <cstdint>
#include <limits>
#include <optional>

namespace perdure::placement {

/// What is known of the application (metrics::StepTime).
struct Pressure {
  double max_slowdown = 0;          ///< as a fraction; 0: no limit
  std::optional<double> slowdown;   ///< while a flush runs; nothing: unknown
  std::optional<double> at_least;   ///< the same without what may be chance: only this is above the budget
  double threads = 0;               ///< that flushed at once when it was like that; 0: as many as were allowed
  std::uint64_t steps = 0;          ///< seen so far; 0: it did not begin, or is gone
  std::uint64_t flushed_steps = 0;  ///< how many of them show what a flush costs
};

class SlowdownBudget {
 public:
  static constexpr double kLongestPauseS = 60;                       ///< then a chunk is flushed whatever it costs
  static constexpr std::uint64_t kNewSteps = 6;                      ///< flushed ones that make an estimate one of now
  static constexpr double kComfort = 0.7;                            ///< of the budget: below, one thread more is dared
  static constexpr double kFirstRetryS = 60, kLongestRetryS = 3840;  ///< until what was too much is dared again
  /// While the slow-down is unknown because flushes always run: after this many steps, and twice as many each time,
  /// they pause for a few, so that there is something to compare with.
  static constexpr std::uint64_t kFirstListen = 8, kLongestListen = 128, kListenSteps = 4;

  struct Answer {
    unsigned threads = 0;
    double again_s = std::numeric_limits<double>::infinity();  ///< ask again then, if nothing happens before
  };
  /// How many of the `wanted` threads may run; `running` are at work.
  Answer threads(double now_s, const Pressure& pressure, unsigned wanted, unsigned running);
  /// No thread is at work any more.
  void idle(double now_s);
  /// Threads are at work as somebody waits: nobody rests for that.
  void hurried() { began_s_ = -1; }

 private:
  void judge(double now_s, const Pressure& pressure, unsigned wanted);
  bool listens(double now_s, const Pressure& pressure);
  Answer paused(double now_s, unsigned running, double until_s);
  Answer paced(double now_s, unsigned running);
  void fit(double threads, unsigned ran);

  static constexpr unsigned kAll = std::numeric_limits<unsigned>::max();
  unsigned allowed_ = kAll, too_many_ = kAll;  // too_many_: the fewest that were above the budget
  double duty_ = 1;                            // the part of the time in which a thread that is alone may run
  double began_s_ = -1;                        // when its chunk began that is under way; below 0: none is
  double rests_until_s_ = 0;                   // the thread that is alone
  std::uint64_t changed_at_ = 0;               // flushed steps, when allowed_ or duty_ changed
  double retry_s_ = 0, retry_after_s_ = kFirstRetryS;
  double last_ran_s_ = -1;  // a thread, in this pause; below 0: there is no pause
  std::uint64_t listen_at_ = kFirstListen, listen_every_ = kFirstListen;  // steps
  double listen_until_s_ = -1;                                            // below 0: it does not listen
};

}  // namespace perdure::placement
