#include "plan/backoff.hpp"

#include <algorithm>

namespace perdure::plan {

std::optional<std::uint64_t> next_delay_ns(const Backoff& backoff, unsigned failures, std::uint64_t failing_for_ns) {
  if (failing_for_ns >= backoff.give_up_after_ns) return std::nullopt;
  std::uint64_t delay = backoff.initial_ns;
  for (unsigned i = 1; i < failures && delay < backoff.maximum_ns; ++i) delay *= 2;
  return std::min(delay, backoff.maximum_ns);
}

std::uint64_t pacing_delay_ns(std::uint64_t bytes, std::uint64_t elapsed_ns, std::uint64_t bytes_per_s) {
  if (bytes_per_s == 0) return 0;
  const double due_ns = static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_s);
  const double wait = due_ns - static_cast<double>(elapsed_ns);
  return wait <= 0 ? 0 : static_cast<std::uint64_t>(wait);
}

}  // namespace perdure::plan
