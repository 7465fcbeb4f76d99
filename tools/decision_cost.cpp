// What one placement decision costs with 256 producers waiting, per policy: microseconds on this machine. The promise
// is below 20. A benchmark and no test: tests never assert on time.
#include <chrono>
#include <cstdio>

#include "placement/registry.hpp"

namespace {

using namespace perdure::placement;

constexpr int kDecisions = 20'000;

DeviceModel ssd() {
  std::vector<Sample> samples;
  for (unsigned k = 1; k <= 251; k += 10)
    samples.push_back({k, 1e6 * (k <= 16 ? 100 + 40 * k : 700 * 64.0 / (k + 48))});
  return DeviceModel::fit(samples, 256).value();
}

/// Full memory, two slower tiers with room; flush rates from so slow that the slower tiers are judged in full to so
/// fast that they are turned down.
double microseconds(const Policy& policy) {
  const DeviceModel memory = DeviceModel::assumed(20e9), nvme = DeviceModel::assumed(3e9), disk = ssd();
  TierState tiers[] = {{32, 0, 0, 0, 32, 32, false, &memory},
                       {500, 500, 1, 0, 0, 1, false, &nvme},
                       {2000, 2000, 8, 4, 40, 40, false, &disk}};
  std::size_t taken = 0;  // so that nothing is optimised away
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kDecisions; ++i) {
    tiers[2].writers = static_cast<unsigned>(i % 64);
    const View view{tiers, {1e8 * (1 + i % 40), 1e7, 16, 0.1}, {256, 1024}, 64U << 20U};
    taken += policy.decide(view).tier.value_or(9);
  }
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
  return taken > 0 ? passed.count() / kDecisions : -1;
}

}  // namespace

int main() {
  for (const Policy& policy : policies()) std::printf("%-13s %8.3f us\n", policy.name, microseconds(policy));
}
