#pragma once
// A batch system or a person asks for a checkpoint by signals, for handles with the option `signals = checkpoint`.
// SIGTERM and SIGINT ask for one and then the end, SIGUSR1 for one. The handler sets numbers, and calls the handler
// that the program had. Another SIGTERM or SIGINT, a second later or more, has the effect that it had without Perdure.
// Signals that come together count as one, as launchers send them.
#include <chrono>
#include <cstdint>

namespace perdure::client {

class Signals {
 public:
  /// The first object of a process takes the three signals, except those that are ignored. The last one gives them
  /// back, except those that the program has taken since. If such a handler calls ours or puts it back, ours stands for
  /// the handler that was there before it. `together`: signals that come within this time are one; the first says it.
  explicit Signals(std::chrono::nanoseconds together = std::chrono::seconds(1));
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// How many signals have asked so far.
  std::uint64_t asked() const;
  /// Tells whether one of them asks for the end.
  bool end_asked() const;
};

}  // namespace perdure::client
