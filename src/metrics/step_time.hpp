#pragma once
// Estimates how much slower an application runs while its checkpoints are flushed, only from the times of its calls.
// The time from leaving a checkpoint to entering the next one is the application's own step. Knows no clock. Not
// thread-safe.
//
// Model: every second of a flushing thread costs the application q seconds. In a step of t seconds, during which the
// threads flushed for b seconds together, t - q * b seconds are its own. Then q is the median of (t' - t) / (b' - b)
// over all comparable pairs of steps (Theil and Sen). A few disturbed steps do not move it. In a comparable pair one
// step flushed more both in seconds and for its length. Otherwise the same flush is merely a smaller part of a longer
// step, or takes fewer threads longer: neither shows its price. The last few steps with little, some and much flushing
// are kept apart. So a long time with a flush does not displace observations without one.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace perdure::metrics {

class StepTime {
 public:
  static constexpr std::size_t kWindow = 16;        ///< steps of each kind
  static constexpr std::uint64_t kForgotten = 256;  ///< after so many steps the application may have changed
  static constexpr std::size_t kLeast = 3;          ///< steps on either side of a comparison
  static constexpr double kContrast = 0.2;          ///< the smallest significant difference in the fraction flushed
  static constexpr double kMore = 1.5;              ///< the smallest significant factor in seconds

  /// The application left a call at `left_s` and entered the next at `entered_s`. A flush ran for the fraction
  /// `flushed` in between, with `threads` threads on average. Ignored: a step of no length, one that begins before the
  /// last one ended (a clock that jumped), numbers that are not finite.
  void step(double left_s, double entered_s, double flushed, double threads = 1);

  /// Returns 0.1 if it runs 10 % slower while as many threads flush as in the last steps with a flush. 0 if the
  /// difference is within the spread of steps; nothing while there is too little to compare.
  std::optional<double> slowdown() const { return slowdown_; }
  /// Returns slowdown() less two deviations, which chance may have added: a value above a budget surely exceeds it.
  std::optional<double> at_least() const { return at_least_; }
  /// Returns how many threads flushed at once in those steps.
  std::optional<double> threads() const;
  /// Returns the duration of a step without any flush, as estimated together with slowdown().
  std::optional<double> quiet_step_s() const { return quiet_s_; }
  std::uint64_t steps() const { return steps_; }            ///< steps that counted
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
