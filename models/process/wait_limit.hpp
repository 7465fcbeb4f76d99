#pragma once
// How long this thread waits for a thread that it traces to come to a stop.
#include <signal.h>
#include <time.h>

#include <cstdint>

namespace perdure::process {

/// While this lives, each wait of this thread ends after so long. One that waits for a device, in vfork, or in a frozen
/// control group may not come to a stop for as long as that lasts, and all others of its process would stand still
/// meanwhile. Takes SIGALRM of this process.
class WaitLimit {
 public:
  explicit WaitLimit(std::uint64_t each_ns);
  ~WaitLimit();
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;
  /// Of a wait that began then; false where there is no limit.
  static bool is_over(std::uint64_t begun_ns);

 private:
  struct sigaction before_ {};
  sigset_t mask_;
  timer_t timer_{};
  bool armed_ = false;
  std::uint64_t outer_ns_;
};

}  // namespace perdure::process
