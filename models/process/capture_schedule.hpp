#pragma once
// Decides when a program under `perdure launch` is captured, and when it is ended. Pure: the caller reports events,
// with times in s on any monotonic clock, and gets the next step.
#include <limits>

namespace perdure::process {

class CaptureSchedule {
 public:
  enum class Action {
    wait,             ///< until Step::until_s, or until an event comes
    capture,          ///< the program goes on afterwards
    capture_and_end,  ///< the program is ended once the image is in the store
    end,  ///< the program is ended without a capture: none succeeded in time, or the user does not wait for one
  };
  struct Step {
    Action action = Action::wait;
    double until_s = 0;  ///< for `wait`
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Tries to capture before the end. They are few, because the allocation ends soon.
  static constexpr int kLastTries = 3;
  static constexpr double kBetweenLastTries_s = 2;
  /// Signals to end within this time count as one, because launchers send several.
  static constexpr double kTogether_s = 1;
  /// The pause after a failed scheduled capture. It doubles with each further failure.
  static constexpr double kFirstPause_s = 10;

  /// `every_s`: kNever for no scheduled captures.
  CaptureSchedule(double every_s, double now_s) : every_s_(every_s), due_s_(now_s + every_s) {}

  /// A user wants a capture now.
  void ask() { asked_ = true; }
  /// A user wants the program to be captured and ended. A second call, kTogether_s later or more, ends it without a
  /// capture.
  void ask_for_end(double now_s);
  Step next(double now_s) const;
  /// Reports the end of the capture that next() asked for.
  void captured(double begun_s, double ended_s, bool good);
  bool is_to_end() const { return end_asked_; }

 private:
  double every_s_, due_s_;
  int failures_ = 0;  // of scheduled captures, in a row
  bool asked_ = false;
  bool end_asked_ = false, end_now_ = false;
  double end_asked_s_ = 0, next_try_s_ = 0;
  int last_tries_ = 0;
};

}  // namespace perdure::process
