#pragma once
// Makes nodes whose figures can be worked out by hand, and random ones, for tests.
#include <random>

#include "simulate/cluster.hpp"

namespace perdure::simulate {

inline device::Device steady(std::string name, double bytes_per_s, std::uint64_t capacity_bytes = 0) {
  device::Device device;
  device.name = std::move(name);
  device.throughput = device::Curve::constant(bytes_per_s);
  device.capacity_bytes = capacity_bytes;
  return device;
}

/// Has chunks of 100 bytes; a cache with room for `cache_chunks`, 1000 bytes/s; a disk, 100 bytes/s; a store, 50
/// bytes/s.
inline Scenario by_hand(unsigned writers, unsigned chunks, std::uint64_t cache_chunks) {
  Scenario scenario;
  scenario.node.tiers = {steady("cache", 1000, 100 * cache_chunks), steady("disk", 100)};
  scenario.node.store = steady("store", 50);
  scenario.writers = writers;
  scenario.chunks = chunks;
  scenario.chunk_bytes = 100;
  scenario.jitter_s = 0;
  return scenario;
}

inline device::Curve random_curve(std::mt19937_64& random) {
  std::vector<device::Point> points;
  double count = 0;
  for (std::uint64_t i = 0; i <= random() % 4; ++i) {
    count += 1 + static_cast<double>(random() % 20);
    points.push_back({count, 50 + static_cast<double>(random() % 5000)});
  }
  return device::Curve::through(points, "random").value();
}

/// Has tiers that are tiny, slow and fail; stores that vary.
inline Scenario random_scenario(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Scenario s;
  for (std::uint64_t i = 0; i <= random() % 4; ++i) {
    s.node.tiers.push_back(steady("tier" + std::to_string(i), 1, 100 * (1 + random() % 8)));
    s.node.tiers.back().throughput = random_curve(random);
    s.node.tiers.back().latency_s = random() % 2 ? 0 : 0.01;
    s.node.tiers.back().variability = {0.01 * static_cast<double>(random() % 90), 0.5, 0};
  }
  s.node.store = s.node.tiers.front();
  s.node.store.throughput = random_curve(random);
  s.node.store_shared = random_curve(random);
  s.nodes = static_cast<unsigned>(1 + random() % 4);
  s.writers = static_cast<unsigned>(1 + random() % 24);
  s.chunks = static_cast<unsigned>(1 + random() % 6);
  s.flush_threads = static_cast<unsigned>(1 + random() % 8);
  s.chunk_bytes = 100;
  s.cold = random() % 2 == 0;
  s.order = random() % 2 ? FlushOrder::arrival : FlushOrder::waited_first;
  s.seed = seed;
  for (std::uint64_t i = 0; i < random() % 4; ++i) {
    const double from = 0.01 * static_cast<double>(random() % 500);
    s.failures.push_back({random() % s.node.tiers.size(), from, from + 0.01 * static_cast<double>(random() % 500)});
  }
  return s;
}

}  // namespace perdure::simulate
