#pragma once
// Signals by which somebody outside asks for a checkpoint: a batch system before the end of an allocation, or a person.
// SIGTERM and SIGINT ask for one and then the end, SIGUSR1 for one. What the handler does is safe in any code: it sets
// a number. Another SIGTERM or SIGINT, a second later or more, ends the process at once, as if there were no handler:
// those that come together are one, as launchers send them.
#include <chrono>
#include <csignal>

namespace perdure::automatic {

class Signals {
 public:
  /// Takes the three, but for those that the process ignores. What came before has them again when this ends; what was
  /// asked for and not done by then is forgotten. Throws Failure where another one in the process has them.
  /// `together`: those that come within this time are one.
  explicit Signals(std::chrono::nanoseconds together = std::chrono::seconds(1));
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// A checkpoint was asked for since the last time.
  bool checkpoint_asked();
  /// The end was.
  bool end_asked() const;
  /// Ends the process as the signal would have, or as SIGTERM would where another process got it.
  [[noreturn]] void end();

 private:
  struct sigaction before_[3] = {};
};

}  // namespace perdure::automatic
