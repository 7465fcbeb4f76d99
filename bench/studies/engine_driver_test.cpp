// Compares the simulator with the real engine. Times have no upper limit, because a loaded machine may take any. But no
// emulated device is faster than described, and chunk counts must agree.
#include "engine_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "cells.hpp"
#include "simulate/scenario_testing.hpp"
#include "testing.hpp"

namespace perdure::studies {
namespace {

constexpr std::uint64_t kChunk = 64U << 10U;

/// Makes 8 writers of 4 chunks. They take half a second in the cache, which may be too small, and by default 2 on the
/// SSD. The store takes them in 1.
simulate::Scenario small_node(std::uint64_t cache_chunks, double ssd_chunks_per_s = 16) {
  simulate::Scenario scenario;
  scenario.node.tiers = {simulate::steady("cache", 64.0 * kChunk, cache_chunks * kChunk),
                         simulate::steady("ssd", ssd_chunks_per_s * kChunk)};
  scenario.node.store = simulate::steady("store", 32.0 * kChunk);
  scenario.writers = 8;
  scenario.chunks = 4;
  scenario.chunk_bytes = kChunk;
  return scenario;
}

class EngineAndSimulator : public testing::TestWithParam<const char*> {
 protected:
  static base::Result<simulate::Outcome> by_engine(const simulate::Scenario& scenario, const char* policy) {
    EngineDriverOptions options;
    options.scale = {1, 0.05};
    options.verify = true;
    return engine_driver(options)->run(scenario, *placement::find_policy(policy).value());
  }
  static simulate::Outcome simulated(const simulate::Scenario& scenario, const char* policy) {
    return simulate::run(scenario, *placement::find_policy(policy).value()).value();
  }
};
INSTANTIATE_TEST_SUITE_P(Policies, EngineAndSimulator,
                         testing::Values("cache-only", "ssd-only", "hybrid-naive", "hybrid-opt", "adaptive"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EngineAndSimulator, WhereTheCacheHoldsEverythingBothPlaceAlike) {
  // If the SSD is a choice, it is so slow that observations on a loaded machine change no policy's decision.
  const auto scenario = small_node(32, std::string(GetParam()) == "ssd-only" ? 3 : 0.1);
  const auto engine = by_engine(scenario, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ(engine->chunks, simulated(scenario, GetParam()).chunks);
}

TEST_P(EngineAndSimulator, WhereTheCacheIsSmallEveryChunkIsPlacedOnceAndRestored) {
  const std::string policy = GetParam();
  // A policy that observes finds a cache slow if its writers get no processor time; the SSD is far slower than that.
  const bool observes = policy == "hybrid-opt" || policy == "adaptive";
  const auto scenario = small_node(8, observes ? 0.5 : 16);
  const auto engine = by_engine(scenario, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  ASSERT_EQ(engine->chunks.size(), 2u);
  EXPECT_EQ(std::accumulate(engine->chunks.begin(), engine->chunks.end(), 0u), 32u);
  const auto expected = simulated(scenario, GetParam());
  if (policy == "ssd-only" || policy == "cache-only") {
    EXPECT_EQ(engine->chunks, expected.chunks);
  } else {
    EXPECT_GE(engine->chunks.front(), 8u) << "what the cache holds";
  }
}

TEST_P(EngineAndSimulator, NoDeviceIsFasterThanDescribed) {
  const auto scenario = small_node(8);
  const auto engine = by_engine(scenario, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  for (const auto& outcome : {*engine, simulated(scenario, GetParam())}) {
    const double cache = static_cast<double>(outcome.chunks.front()), ssd = static_cast<double>(outcome.chunks.back());
    EXPECT_GE(outcome.local_phase_s, 0.99 * std::max(cache / 64, ssd / 16));
    EXPECT_GE(outcome.flush_completion_s, 0.99 * 32 / 32);
    EXPECT_GE(outcome.flush_completion_s, outcome.local_phase_s);
  }
}

TEST(EngineDriver, WhatTheEngineRefusesIsAnErrorWithItsReason) {
  auto scenario = small_node(32);
  scenario.chunk_bytes = 1000;  // no multiple of a page
  const auto refused = engine_driver({{1, 0.01}, 60, false})->run(scenario, placement::policies().front());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("chunk_bytes"));
  scenario = small_node(32);
  scenario.node.tiers.push_back(simulate::steady("third", 1e6));
  const auto third = engine_driver({{1, 0.01}, 60, false})->run(scenario, placement::policies().front());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, PERDURE_UNSUPPORTED);
}

TEST(EngineDriver, ARunThatFailsIsARowAndTheStudyGoesOn) {
  const auto driver = engine_driver({{1, 0.01}, 60, false});
  Context context = veloc_node(*driver);
  auto broken = small_node(32);
  const auto good = small_node(32);
  broken.chunk_bytes = 1000;
  context.max_cells = 0;
  context.repetitions = 1;
  const auto rows = run_cells(context, {broken, good});
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 2 * placement::policies().size());
  EXPECT_THAT(rows->front().error, testing::HasSubstr("chunk_bytes"));
  EXPECT_EQ(rows->back().error, "");
  EXPECT_EQ(rows->back().driver, "engine");
  EXPECT_EQ(rows->back().time_scale, 0.01);
}

}  // namespace
}  // namespace perdure::studies
