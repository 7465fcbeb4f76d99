#pragma once
// Handles signals that ask for a checkpoint, from a batch system before an allocation ends or from a person. SIGTERM
// and SIGINT ask for a checkpoint and then the end, SIGUSR1 for a checkpoint. The handler is safe in any code: it only
// sets a number. Another SIGTERM or SIGINT at least a second later ends the process at once, as without a handler.
// Signals that come together count as one, because launchers send several.
#include <chrono>
#include <csignal>

namespace perdure::automatic {

class Signals {
 public:
  /// Takes over the three signals, except those that the process ignores. The destructor restores the earlier handlers
  /// and forgets pending requests. Throws Failure if another object in the process has the signals. `together`: signals
  /// within this time count as one.
  explicit Signals(std::chrono::nanoseconds together = std::chrono::seconds(1));
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Whether a checkpoint was asked for since the last call.
  bool checkpoint_asked();
  /// Whether the end was asked for.
  bool end_asked() const;
  /// Ends the process as the signal would have, or as SIGTERM would if another process got the signal.
  [[noreturn]] void end();

 private:
  struct sigaction before_[3] = {};
};

}  // namespace perdure::automatic
