// Benchmarks the decision alone, as a pure function, with 256 waiting producers.
#include <benchmark/benchmark.h>

#include "placement/registry.hpp"

namespace perdure::decision_cost {
namespace {

using namespace perdure::placement;

DeviceModel ssd() {
  std::vector<Sample> samples;
  for (unsigned k = 1; k <= 251; k += 10)
    samples.push_back({k, 1e6 * (k <= 16 ? 100 + 40 * k : 700 * 64.0 / (k + 48))});
  return DeviceModel::fit(samples, 256).value();
}

/// Memory is full, and two slower tiers have room. The flush rates range from very slow, where the slower tiers are
/// fully judged, to very fast, where they are turned down.
void decide(benchmark::State& state, const Policy& policy) {
  const DeviceModel memory = DeviceModel::assumed(20e9), nvme = DeviceModel::assumed(3e9), disk = ssd();
  TierState tiers[] = {{32, 0, 0, 0, 32, 32, false, &memory},
                       {500, 500, 1, 0, 0, 1, false, &nvme},
                       {2000, 2000, 8, 4, 40, 40, false, &disk}};
  unsigned i = 0;
  for (auto _ : state) {
    tiers[2].writers = i % 64;
    const View view{tiers, {1e8 * (1 + i % 40), 1e7, 16, 0.1}, {256, 1024}, 64U << 20U};
    benchmark::DoNotOptimize(policy.decide(view));
    ++i;
  }
}

const bool registered_policies = [] {
  for (const Policy& policy : policies())
    benchmark::RegisterBenchmark((std::string("policy/") + policy.name).c_str(),
                                 [&policy](benchmark::State& state) { decide(state, policy); });
  return true;
}();

}  // namespace
}  // namespace perdure::decision_cost
