// Benchmarks the engine's core: it looks at its tiers, flushes and queue, asks the policy, records the decision, and
// takes the slot.
#include "os/system.hpp"
#include "producers.hpp"

namespace perdure::decision_cost {
namespace {

using Kind = engine::GrantOutcome::Kind;

/// The head of the queue asks again, and still has to wait.
void wait(benchmark::State& state, const std::string& policy) {
  Producers producers(policy, situation(state));
  if (!producers.ready() || producers.ask(1).kind != Kind::wait) return state.SkipWithError("nobody waits");
  for (auto _ : state) benchmark::DoNotOptimize(producers.ask(1));
}

/// The head of the queue asks again after a chunk in memory was flushed, and gets its slot.
void granted(benchmark::State& state, const std::string& policy) {
  std::optional<Producers> producers;
  std::uint32_t rank = 0;
  for (auto _ : state) {
    if (!producers || producers->at_end(rank)) producers.emplace(policy, situation(state));
    if (!producers->ready() || !producers->flush_one()) return state.SkipWithError("nothing was flushed");
    const double begin = os::monotonic_s();
    const auto outcome = producers->ask(rank);
    state.SetIterationTime(os::monotonic_s() - begin);
    if (outcome.kind != Kind::granted || !producers->write(rank, outcome.address))
      return state.SkipWithError("no slot was granted");
    rank = (rank + 1) % kRanks;
  }
}

const bool registered_core = [] {
  for (const std::string policy : {"adaptive", "hybrid-opt"}) {
    situations(benchmark::RegisterBenchmark(("core/wait/" + policy).c_str(), wait, policy));
    situations(benchmark::RegisterBenchmark(("core/granted/" + policy).c_str(), granted, policy)->UseManualTime());
  }
  return true;
}();

}  // namespace
}  // namespace perdure::decision_cost
