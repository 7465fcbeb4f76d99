// Compares placement::backlog's predictions about the end of a checkpoint with checkpoints that leave exactly so many
// chunks on the slow tier.
#include "placement/backlog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "placement/choices.hpp"
#include "simulate/scenario_testing.hpp"
#include "support/sanitized.hpp"

namespace perdure::simulate {
namespace {

constexpr unsigned kThreads = 16;

/// Has chunks of 1000 bytes, the paper's SSD, a cache that is never a bottleneck, and a steady store.
Scenario slow_to_read(double store, std::uint64_t cache_chunks) {
  Scenario scenario;
  scenario.node.tiers = {steady("cache", 100e3, 1000 * cache_chunks), steady("ssd", 1)};
  scenario.node.tiers[1].throughput =
      device::Curve::through({{1, 100}, {2, 180}, {4, 300}, {8, 480}, {16, 700}, {32, 650}}, "ssd").value();
  scenario.node.store = steady("store", store);
  scenario.writers = 16;
  scenario.chunks = 160;  // time enough for the SSD to get its part before the end
  scenario.chunk_bytes = 1000;
  scenario.flush_threads = kThreads;
  scenario.jitter_s = 0;
  return scenario;
}

/// Leaves so many chunks on the SSD, with four writers at once: if all were there, flushes would starve.
Outcome leaving(const Scenario& scenario, std::uint64_t chunks) {
  const auto plan = [chunks] {
    auto placed = std::make_shared<std::uint64_t>(0);
    return Decide([chunks, placed](const placement::View& view) {
      if (placement::usable(view.tiers[0])) return placement::take(view, 0, placement::Reason::fastest);
      if (*placed >= chunks || view.tiers[1].writers >= 4) return placement::wait_or_take_any(view, {});
      ++*placed;
      return placement::take(view, 1, placement::Reason::helps_meanwhile);
    });
  };
  return run(scenario, plan).value();
}

placement::Backlog predicted(const Scenario& scenario, const std::vector<placement::DeviceModel>& models,
                             std::uint64_t chunks) {
  placement::TierState top, slow;
  top.slots = slots_of(scenario, scenario.node.tiers[0]);
  slow.model = &models[1];
  placement::View view;
  view.flush.bytes_per_s = scenario.node.store.throughput.at(1);
  view.flush.threads = kThreads;
  view.chunk_bytes = scenario.chunk_bytes;
  return placement::backlog(view, slow, top, chunks);
}

std::vector<placement::DeviceModel> measured(const Scenario& scenario) {
  std::vector<placement::DeviceModel> models;
  for (const auto& tier : scenario.node.tiers) {
    std::vector<placement::Sample> samples;
    for (unsigned k = 1; k <= 32; ++k) samples.push_back({k, tier.throughput.at(k)});
    models.push_back(placement::DeviceModel::fit(samples, 32).value());
  }
  return models;
}

// The tolerance is the time in which the store takes one chunk of every thread. Flushes that began together end
// together, so the end comes in steps of that size.
TEST(Backlog, PredictsHowMuchLaterTheStoreHasEverything) {
  double most_s = 0;
  for (double store : {760.0, 1000.0, 1500.0, 2000.0})
    for (std::uint64_t cache : test_support::unless_sanitized<std::vector<std::uint64_t>>({32, 64, 128}, {64})) {
      const Scenario scenario = slow_to_read(store, cache);
      const auto models = measured(scenario);
      const double step_s = kThreads * static_cast<double>(scenario.chunk_bytes) / store;
      const Outcome without = leaving(scenario, 0);
      for (std::uint64_t chunks = 1; chunks <= 136; chunks += chunks < 16 ? 1 : 8) {
        const Outcome outcome = leaving(scenario, chunks);
        const double later_s = outcome.flush_completion_s - without.flush_completion_s;
        ASSERT_EQ(outcome.chunks[1], chunks);
        const double expected_s = predicted(scenario, models, chunks).later_s;
        EXPECT_NEAR(later_s, expected_s, step_s) << store << " bytes/s, " << cache << " cached, " << chunks << " left";
        most_s = std::max(most_s, later_s / step_s);
      }
    }
  EXPECT_GT(most_s, 3) << "or nothing was predicted";
}

}  // namespace
}  // namespace perdure::simulate
