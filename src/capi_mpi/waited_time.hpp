#pragma once
// Measures how long a process has waited for others, by looks at a clock, without the time in which it did not run.
// Pure.
#include <algorithm>
#include <chrono>

namespace perdure::capi_mpi {

class WaitedTime {
 public:
  using Clock = std::chrono::steady_clock;
  explicit WaitedTime(Clock::time_point begin) : last_(begin) {}
  /// The time waited until this look. Between two looks at most a second counts. A process that looks every millisecond
  /// and has not looked for longer was stopped, such as in a suspended job.
  std::chrono::nanoseconds at(Clock::time_point now) {
    waited_ += std::min<std::chrono::nanoseconds>(now - last_, std::chrono::seconds(1));
    last_ = now;
    return waited_;
  }

 private:
  Clock::time_point last_;
  std::chrono::nanoseconds waited_{0};
};

}  // namespace perdure::capi_mpi
