#pragma once
// Limits how long this thread waits for a traced thread to stop.
#include <signal.h>
#include <time.h>

#include <cstdint>

namespace perdure::process {

/// While this object lives, each such wait of this thread is limited to `each_ns`. A thread that waits for a device, in
/// vfork, or in a frozen control group may not stop before that ends. Meanwhile all other threads of its process would
/// stand still. It uses SIGALRM of this process.
class WaitLimit {
 public:
  explicit WaitLimit(std::uint64_t each_ns);
  ~WaitLimit();
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;
  /// Returns whether a wait that began at `begun_ns` is over; false without a limit.
  static bool is_over(std::uint64_t begun_ns);

 private:
  struct sigaction before_ {};
  sigset_t mask_;
  timer_t timer_{};
  bool armed_ = false;
  std::uint64_t outer_ns_;
};

}  // namespace perdure::process
