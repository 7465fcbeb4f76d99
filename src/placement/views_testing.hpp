#pragma once
// Models and views for tests.
#include <ostream>
#include <random>
#include <vector>

#include "placement/decision.hpp"
#include "placement/registry.hpp"

namespace perdure::placement {

/// Shows a policy in GoogleTest's messages.
inline void PrintTo(const Policy& policy, std::ostream* out) { *out << policy.name; }

inline DeviceModel model_of(std::vector<double> bytes_per_s) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < bytes_per_s.size(); ++i)
    samples.push_back({static_cast<unsigned>(i + 1), bytes_per_s[i]});
  return DeviceModel::fit(samples, static_cast<unsigned>(samples.size())).value();
}

/// Poor with few writers, best with 16, falling beyond: the shape of the paper's SSD. MB/s.
inline DeviceModel ssd_model() {
  std::vector<double> curve;
  for (int k = 1; k <= 256; ++k) curve.push_back(1e6 * (k <= 16 ? 100 + 40 * (k - 1) : 700 * 64.0 / (k + 48)));
  return model_of(curve);
}

inline const DeviceModel kMemory = DeviceModel::assumed(20e9);
inline const DeviceModel kSsd = ssd_model();

/// Owns tiers, and the view that refers to them.
struct Situation {
  std::vector<TierState> tiers;
  FlushOutlook flush;
  QueueState queue;
  std::uint64_t chunk_bytes = 64'000'000;
  View view() const { return {tiers, flush, queue, chunk_bytes}; }
};

/// Full memory being flushed, an empty SSD, 256 producers of 4 chunks each; VeloC IPDPS'19, V-D.
inline Situation full_cache(double flush_bytes_per_s) {
  Situation s;
  s.tiers = {{32, 0, 0, 0, 32, 32, false, &kMemory}, {2000, 2000, 0, 0, 0, 0, false, &kSsd}};
  s.flush = {flush_bytes_per_s, flush_bytes_per_s / 10};
  s.queue = {224, 992};
  return s;
}

inline Situation random_situation(std::mt19937_64& random) {
  auto below = [&](std::uint64_t n) { return random() % n; };
  Situation s;
  const std::uint64_t count = 1 + below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    TierState tier;
    tier.slots = below(4) == 0 ? 0 : 1 + below(64);
    tier.free_slots = below(2) == 0 ? 0 : below(tier.slots + 1);
    tier.writers = static_cast<unsigned>(below(300));
    tier.readers = static_cast<unsigned>(below(20));
    tier.chunks_unflushed = tier.slots - tier.free_slots;
    tier.slots_to_come = below(2) == 0 ? 0 : below(tier.chunks_unflushed + 1);
    tier.failed = below(4) == 0;
    tier.model = below(2) == 0 ? &kMemory : &kSsd;
    s.tiers.push_back(tier);
  }
  s.flush.bytes_per_s = below(4) == 0 ? 0 : static_cast<double>(below(5'000'000'000));
  s.flush.deviation_bytes_per_s = s.flush.bytes_per_s * static_cast<double>(below(200)) / 100;
  s.queue = {1 + below(300), below(5000)};
  s.chunk_bytes = 1 + below(200'000'000);
  if (below(2) == 0) s.flush.sustained_bytes_per_s = static_cast<double>(below(5'000'000'000));
  return s;
}

}  // namespace perdure::placement
