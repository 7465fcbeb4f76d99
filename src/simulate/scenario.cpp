#include "simulate/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace perdure::simulate {

using base::fail;

double slow_down(const Outcome& outcome, double interval_s, double interference) {
  const double behind = std::max(outcome.flush_completion_s - outcome.local_phase_s, 0.0);
  return (outcome.local_phase_s + interference * behind) / interval_s;
}

std::uint64_t slots_of(const Scenario& scenario, const device::Device& tier) {
  const std::uint64_t all = std::uint64_t{scenario.writers} * scenario.chunks;
  return tier.capacity_bytes == 0 ? all : std::min(all, tier.capacity_bytes / scenario.chunk_bytes);
}

Scenario ideal_for(const Scenario& scenario, const placement::Policy& policy) {
  Scenario ideal = scenario;
  if (std::string_view(policy.name) == "cache-only" && !ideal.node.tiers.empty())
    ideal.node.tiers.front().capacity_bytes = 0;
  return ideal;
}

base::Status check(const Scenario& scenario) {
  const auto within = [](double value, double low, double high) { return value >= low && value <= high; };
  if (!within(scenario.nodes, 1, 1e6) || !within(scenario.writers, 1, 65536) || !within(scenario.chunks, 1, 1e6) ||
      !within(scenario.flush_threads, 1, 65536) || !within(scenario.max_simulated, 1, 1e6))
    return fail(PERDURE_INVALID_ARGUMENT, "scenario", "nodes, writers, chunks or flush threads are out of range");
  if (std::uint64_t{scenario.writers} * scenario.chunks > 10'000'000)
    return fail(PERDURE_INVALID_ARGUMENT, "scenario", "has more than 10 million chunks per node");
  if (scenario.chunk_bytes == 0 || !within(scenario.jitter_s, 0, 1e6))
    return fail(PERDURE_INVALID_ARGUMENT, "scenario", "chunk size or jitter is out of range");
  for (const Failure& failure : scenario.failures) {
    if (failure.tier < scenario.node.tiers.size() && within(failure.from_s, 0, failure.until_s) &&
        std::isfinite(failure.until_s))
      continue;
    return fail(PERDURE_INVALID_ARGUMENT, "scenario", "a failure names no tier, or never ends");
  }
  const auto& tiers = scenario.node.tiers;
  if (std::none_of(tiers.begin(), tiers.end(), [&](const auto& tier) { return slots_of(scenario, tier) > 0; }))
    return fail(PERDURE_NO_SPACE, "scenario", "no tier holds a single chunk", "smaller chunks or larger tiers");
  return {};
}

}  // namespace perdure::simulate
