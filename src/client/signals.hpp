#pragma once
// Signals by which a batch system or a person asks for a checkpoint, for handles with the option `signals =
// checkpoint`: SIGTERM and SIGINT ask for one and then the end, SIGUSR1 for one. The handler sets numbers, and calls
// the handler that the program had. Another SIGTERM or SIGINT, a second later or more, has the effect that it had
// without Perdure: those that come together are one, as launchers send them.
#include <chrono>
#include <cstdint>

namespace perdure::client {

class Signals {
 public:
  /// The first of a process takes the three, but for those that are ignored; the last gives them back, but for those
  /// that the program has taken since: our handler, where such a one calls it or puts it back, stands for what was
  /// there before it. `together`: those that come within this time are one; the first says it.
  explicit Signals(std::chrono::nanoseconds together = std::chrono::seconds(1));
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// How many signals have asked so far.
  std::uint64_t asked() const;
  /// One of them asks for the end.
  bool end_asked() const;
};

}  // namespace perdure::client
