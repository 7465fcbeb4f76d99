#pragma once
// When a failed flush is tried again. Pure.
#include <cstdint>
#include <optional>

namespace perdure::plan {

struct Backoff {
  std::uint64_t initial_ns = 100'000'000;
  std::uint64_t maximum_ns = 10'000'000'000;
  std::uint64_t give_up_after_ns = 600'000'000'000;
};

/// Delay before attempt number `failures + 1` after `failures` (>= 1) failures in a row, doubling from initial to
/// maximum; nothing when `failing_for_ns` passed the limit: give up.
std::optional<std::uint64_t> next_delay_ns(const Backoff& backoff, unsigned failures, std::uint64_t failing_for_ns);

/// A bandwidth limit for all writers of an engine together. Not thread-safe.
class Pacing {
 public:
  explicit Pacing(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}  ///< 0: no limit
  /// How long, in nanoseconds, the writer of the `bytes` that were just written has to pause. Time without writes
  /// is not made up for: a limit that only holds on average would let a burst through after every pause.
  std::uint64_t delay_ns(std::uint64_t begun_ns, std::uint64_t ended_ns, std::uint64_t bytes);

 private:
  std::uint64_t bytes_per_s_;
  double free_ns_ = 0;  // when what was written so far is paid for
};

}  // namespace perdure::plan
