#include "plan/backoff.hpp"

#include <algorithm>

namespace perdure::plan {

std::optional<std::uint64_t> next_delay_ns(const Backoff& backoff, unsigned failures, std::uint64_t failing_for_ns) {
  if (failing_for_ns >= backoff.give_up_after_ns) return std::nullopt;
  std::uint64_t delay = backoff.initial_ns;
  for (unsigned i = 1; i < failures && delay < backoff.maximum_ns; ++i) delay *= 2;
  return std::min(delay, backoff.maximum_ns);
}

std::uint64_t Pacing::delay_ns(std::uint64_t begun_ns, std::uint64_t ended_ns, std::uint64_t bytes) {
  if (bytes_per_s_ == 0) return 0;
  const double costs_ns = static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_s_);
  free_ns_ = std::max(free_ns_, static_cast<double>(begun_ns)) + costs_ns;
  const double wait = free_ns_ - static_cast<double>(ended_ns);
  return wait <= 0 ? 0 : static_cast<std::uint64_t>(wait);
}

}  // namespace perdure::plan
