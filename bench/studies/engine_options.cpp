#include <fmt/format.h>

#include <algorithm>

#include "engine_run.hpp"
#include "simulate/scenario.hpp"

namespace perdure::studies {
namespace {

constexpr std::uint64_t kMemoryPage = 2U << 20U;  // a slot of the memory tier has at least one
constexpr std::uint64_t kFileBlock = 64U << 10U;

/// Gives exactly the described capacity: an engine would also count slots that the tier behind an emulated one has
/// beyond it.
std::uint64_t tier_bytes(const simulate::Scenario& scenario, std::size_t tier, std::uint64_t unit) {
  const std::uint64_t slot = (scenario.chunk_bytes + unit - 1) / unit * unit;
  return simulate::slots_of(scenario, scenario.node.tiers[tier]) * slot;
}

}  // namespace

// Waits are limited, so that a run that cannot continue ends with an error of its own.
std::string engine_options(const EngineRun& run) {
  const simulate::Scenario& scenario = run.scenario;
  const std::string& directory = run.directory;
  std::string text = fmt::format(
      "job=study;engine.mode=embedded;store.path={0}/store;node.path={0}/node;tier.file.path={0}/file;"
      "emulate.description={0}/node.toml;emulate.seed={1};emulate.nodes={2};placement.policy={3};chunk_bytes={4};"
      "flush.threads={5};checkpoint.timeout={6};engine.drain_timeout={6};tier.memory.max_bytes={7}",
      directory, scenario.seed, scenario.nodes, run.policy, scenario.chunk_bytes, scenario.flush_threads,
      run.patience_s, tier_bytes(scenario, 0, kMemoryPage));
  if (scenario.node.tiers.size() == 1) return text + ";tier.order=memory";
  return text + fmt::format(";tier.order=memory,file;tier.file.max_bytes={}", tier_bytes(scenario, 1, kFileBlock));
}

}  // namespace perdure::studies
