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

/// A flush bandwidth limit as a pure decision: how long to wait so that `bytes` sent since `elapsed_ns` ago stay below
/// `bytes_per_s` (0: no limit).
std::uint64_t pacing_delay_ns(std::uint64_t bytes, std::uint64_t elapsed_ns, std::uint64_t bytes_per_s);

}  // namespace perdure::plan
