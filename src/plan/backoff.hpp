#pragma once
// Decides when a failed flush is retried. Pure.
#include <cstdint>
#include <optional>

namespace perdure::plan {

struct Backoff {
  std::uint64_t initial_ns = 100'000'000;
  std::uint64_t maximum_ns = 10'000'000'000;
  std::uint64_t give_up_after_ns = 600'000'000'000;
};

/// Returns the delay before attempt number `failures + 1` after `failures` (>= 1) failures in a row. It doubles from
/// initial to maximum. Returns nothing if `failing_for_ns` passed the limit: then the caller gives up.
std::optional<std::uint64_t> next_delay_ns(const Backoff& backoff, unsigned failures, std::uint64_t failing_for_ns);

/// Limits the bandwidth of all writers of an engine together. Not thread-safe.
class Pacing {
 public:
  explicit Pacing(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}  ///< 0: no limit
  /// Returns how many nanoseconds the writer of these `bytes` has to pause. Idle time earns no credit: a limit that
  /// holds only on average would let a burst through after every pause.
  std::uint64_t delay_ns(std::uint64_t begun_ns, std::uint64_t ended_ns, std::uint64_t bytes);

 private:
  std::uint64_t bytes_per_s_;
  double free_ns_ = 0;  // when all writes so far are paid for
};

}  // namespace perdure::plan
