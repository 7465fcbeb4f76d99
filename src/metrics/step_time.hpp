#pragma once
// How much slower an application runs while its checkpoints are flushed, from nothing but the times of its calls: the
// time from leaving a checkpoint to entering the next one is the application's own step. Knows no clock. Not
// thread-safe.
//
// A step through the fraction f of which a flush ran is taken to last T * (1 + s * f). s is the median over all pairs
// of steps that differ enough in f (Theil and Sen), so that a few steps that something else held up do not matter. The
// last few steps with little, some and much flushing are kept apart: what was learnt without a flush is not pushed
// out by a long time with one.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace perdure::metrics {

class StepTime {
 public:
  static constexpr std::size_t kWindow = 8;         ///< steps of each kind
  static constexpr std::uint64_t kForgotten = 256;  ///< steps later the application may be another
  static constexpr std::size_t kLeast = 3;          ///< steps on either side of a comparison
  static constexpr double kContrast = 0.2;          ///< difference in f that says something

  /// The application left a call at `left_s`, entered the next at `entered_s`, and a flush ran for the fraction
  /// `flushed` in between. Ignored: a step of no length, one that begins before the last one ended (a clock that
  /// jumped), what is no number.
  void step(double left_s, double entered_s, double flushed);

  /// s: 0.1 for steps that last 10 % longer while a flush runs all the time. 0 when the difference is within what steps
  /// differ anyway. Nothing while there is too little to compare.
  std::optional<double> slowdown() const { return slowdown_; }
  /// Of a step without any flush, as estimated together with slowdown().
  std::optional<double> quiet_step_s() const { return quiet_s_; }
  std::uint64_t steps() const { return steps_; }            ///< that counted
  std::uint64_t flushed_steps() const { return flushed_; }  ///< of them with so much flushing that they show its price

 private:
  struct Step {
    std::uint64_t number = 0;
    double seconds = 0, flushed = 0;
  };
  void estimate();

  std::array<std::deque<Step>, 3> kinds_;  // by f: below a third, two thirds, more
  std::uint64_t steps_ = 0, flushed_ = 0;
  double last_s_ = 0;
  bool begun_ = false;
  std::optional<double> slowdown_, quiet_s_;
};

}  // namespace perdure::metrics
