#pragma once
// How much slower an application runs while its checkpoints are flushed, from nothing but the times of its calls: the
// time from leaving a checkpoint to entering the next one is the application's own step. Knows no clock. Not
// thread-safe.
//
// Every second that a thread flushes is taken to cost the application q seconds, so that t - q * b seconds of a step of
// t seconds are its own, when the threads flushed for b seconds together. q is the median of (t' - t) / (b' - b) over
// all pairs of steps that can be compared (Theil and Sen), so that a few that something else held up do not matter. A
// pair can be compared when more was flushed in one of them both in seconds and for its length: the same flush is a
// smaller part of a longer step, and takes fewer threads longer, and neither says anything of its price. The last few
// steps with little, some and much flushing are kept apart: what was learnt without a flush is not pushed out by a long
// time with one.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace perdure::metrics {

class StepTime {
 public:
  static constexpr std::size_t kWindow = 16;        ///< steps of each kind
  static constexpr std::uint64_t kForgotten = 256;  ///< steps later the application may be another
  static constexpr std::size_t kLeast = 3;          ///< steps on either side of a comparison
  static constexpr double kContrast = 0.2;          ///< difference in the fraction flushed that says something
  static constexpr double kMore = 1.5;              ///< times as many seconds

  /// The application left a call at `left_s`, entered the next at `entered_s`, and a flush ran for the fraction
  /// `flushed` in between, with so many `threads` on average. Ignored: a step of no length, one that begins before the
  /// last one ended (a clock that jumped), what is no number.
  void step(double left_s, double entered_s, double flushed, double threads = 1);

  /// 0.1: it runs 10 % slower while as many threads flush as did in the last steps with a flush. 0 when the difference
  /// is within what steps differ anyway. Nothing while there is too little to compare.
  std::optional<double> slowdown() const { return slowdown_; }
  /// The same, less what chance may have added (two deviations): what is above a budget for sure.
  std::optional<double> at_least() const { return at_least_; }
  /// How many threads flushed at once in those steps.
  std::optional<double> threads() const;
  /// Of a step without any flush, as estimated together with slowdown().
  std::optional<double> quiet_step_s() const { return quiet_s_; }
  std::uint64_t steps() const { return steps_; }            ///< that counted
  std::uint64_t flushed_steps() const { return flushed_; }  ///< steps with enough flushing to show its cost

 private:
  struct Step {
    std::uint64_t number = 0;
    double seconds = 0, flushed = 0, threads = 0;
    double busy_s() const { return seconds * flushed * threads; }
    bool comparable_to(const Step& more) const {
      return more.flushed - flushed >= kContrast && more.busy_s() >= kMore * busy_s();
    }
  };
  std::vector<Step> recent();
  void estimate();

  std::array<std::deque<Step>, 3> kinds_;  // by the fraction flushed: below a third, two thirds, more
  std::uint64_t steps_ = 0, flushed_ = 0;
  std::deque<double> threads_;  // of the last few steps with a flush
  double last_s_ = 0;
  bool begun_ = false;
  std::optional<double> slowdown_, at_least_, quiet_s_;
};

}  // namespace perdure::metrics
