#pragma once
// When a program that `perdure launch` started is captured, and when it is to end. Pure: times are in s, on any clock
// that goes on; it is told what came, and says what to do next.
#include <limits>

namespace perdure::process {

class CaptureSchedule {
 public:
  enum class Action {
    wait,             ///< until Step::until_s, or until something comes
    capture,          ///< it goes on afterwards
    capture_and_end,  ///< it ends once the image is in the store
    end,              ///< it is told to end without: no capture succeeded in time, or nobody wants to wait for one
  };
  struct Step {
    Action action = Action::wait;
    double until_s = 0;  ///< of `wait`
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Of captures before the end: the allocation ends soon.
  static constexpr int kLastTries = 3;
  static constexpr double kBetweenLastTries_s = 2;
  /// Signals to end that come together are one, as launchers send them.
  static constexpr double kTogether_s = 1;
  /// The first pause after a capture by schedule that failed; each further one is twice as long.
  static constexpr double kFirstPause_s = 10;

  /// `every_s`: kNever for none by schedule.
  CaptureSchedule(double every_s, double now_s) : every_s_(every_s), due_s_(now_s + every_s) {}

  /// Somebody wants one now.
  void ask() { asked_ = true; }
  /// Somebody wants the program's end, with a capture before; the second time, a second later or more, without.
  void ask_for_end(double now_s);
  Step next(double now_s) const;
  /// The capture that next() asked for is done.
  void captured(double begun_s, double ended_s, bool good);
  bool is_to_end() const { return end_asked_; }

 private:
  double every_s_, due_s_;
  int failures_ = 0;  // in a row, by schedule
  bool asked_ = false;
  bool end_asked_ = false, end_now_ = false;
  double end_asked_s_ = 0, next_try_s_ = 0;
  int last_tries_ = 0;
};

}  // namespace perdure::process
