#include "simulate/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "placement/choices.hpp"
#include "placement/views_testing.hpp"
#include "simulate/scenario_testing.hpp"

namespace perdure::simulate {
namespace {

const placement::Policy& policy(const char* name) { return *placement::find_policy(name).value(); }
Outcome outcome(const Scenario& scenario, const char* name) { return run(scenario, policy(name)).value(); }

TEST(Cluster, AgreesWithWhatOneWorksOutByHand) {
  // One writer has two chunks and room for both: each is written in 0.1 s. The first is read by a flush from 0.1 on,
  // beside the second write, both at 500 bytes/s until 0.3. Then the second is read until 0.4. The store takes 2 s for
  // each.
  const Outcome cached = outcome(by_hand(1, 2, 2), "hybrid-naive");
  EXPECT_NEAR(cached.local_phase_s, 0.3, 1e-9);
  // From 0.4 on both share the store: the first has 95 bytes left. Together 195 bytes go at 50 bytes/s.
  EXPECT_NEAR(cached.flush_completion_s, 0.4 + 195 / 50.0, 1e-9);
  EXPECT_THAT(cached.chunks, testing::ElementsAre(2, 0));
  EXPECT_EQ(cached.waits, 0u);
}

TEST(Cluster, AWriterThatWaitsGoesOnWhenAFlushFreedItsSlot) {
  // There is one slot: write 0.1 s, read 0.1 s, store 2 s, then the second chunk.
  Scenario scenario = by_hand(1, 2, 1);
  scenario.node.tiers.pop_back();
  const Outcome waited = outcome(scenario, "hybrid-opt");
  EXPECT_NEAR(waited.local_phase_s, 2.3, 1e-9);
  EXPECT_NEAR(waited.flush_completion_s, 4.4, 1e-9);
  EXPECT_EQ(waited.waits, 1u);
  EXPECT_NEAR(waited.waited_s, 2.1, 1e-9);
}

TEST(Cluster, AFlushFromTheDiskTakesBandwidthFromItsWriters) {
  // There are two chunks, one after the other: the flush of the first reads while the second is written.
  const Outcome disk = outcome(by_hand(1, 2, 1), "ssd-only");
  EXPECT_NEAR(disk.local_phase_s, 1 + 2, 1e-9);
}

TEST(Cluster, HybridOptWaitsWhereNaiveIsTrappedOnASlowDisk) {
  Scenario scenario = by_hand(4, 8, 2);
  scenario.node.store = steady("store", 400);
  const Outcome opt = outcome(scenario, "hybrid-opt"), naive = outcome(scenario, "hybrid-naive");
  EXPECT_EQ(opt.chunks[1], 0u);
  EXPECT_GT(naive.chunks[1], 0u);
  EXPECT_LT(opt.local_phase_s, naive.local_phase_s);
  EXPECT_LT(opt.flush_completion_s, naive.flush_completion_s);
}

TEST(Cluster, TellsOfEachChunkThatGetsToTheStoreOnce) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Scenario scenario = random_scenario(seed);
    std::uint64_t stored = 0;
    const auto outcome = run(scenario, placement::policies().front(), [&](std::uint64_t chunks) { stored += chunks; });
    ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_EQ(stored,
              std::uint64_t{std::min(scenario.nodes, scenario.max_simulated)} * scenario.writers * scenario.chunks);
  }
}

TEST(Cluster, NodesShareTheStore) {
  Scenario scenario = by_hand(1, 10, 10);
  const double alone = outcome(scenario, "hybrid-naive").flush_completion_s;
  scenario.node.store_shared = device::Curve::constant(50);
  scenario.nodes = 4;
  const Outcome four = outcome(scenario, "hybrid-naive");
  EXPECT_GE(four.flush_completion_s, 4 * 1000 / 50.0);
  EXPECT_LT(four.flush_completion_s, 4 * alone);
  EXPECT_EQ(four.chunks[0], 40u);
}

TEST(Cluster, AFewNodesThatStandForManyComeCloseToAllOfThem) {
  for (const char* name : {"ssd-only", "hybrid-naive", "hybrid-opt", "adaptive"}) {
    Scenario scenario = by_hand(8, 8, 4);
    scenario.node.tiers[1].variability = {0.2, 0.5, 0};
    scenario.node.store.variability = {0.2, 1, 0};
    scenario.node.store_shared = device::Curve::through({{1, 50}, {16, 500}, {96, 2000}}, "shared").value();
    scenario.nodes = 96;
    scenario.max_simulated = 96;
    const Outcome exact = outcome(scenario, name);
    scenario.max_simulated = 10;
    const Outcome few = outcome(scenario, name);
    EXPECT_NEAR(few.local_phase_s / exact.local_phase_s, 1, 0.05) << name;
    EXPECT_NEAR(few.flush_completion_s / exact.flush_completion_s, 1, 0.05) << name;
    EXPECT_EQ(few.chunks[0] + few.chunks[1], 96u * 64) << name;
  }
}

class AnyPolicy : public testing::TestWithParam<placement::Policy> {};
INSTANTIATE_TEST_SUITE_P(Policies, AnyPolicy, testing::ValuesIn(placement::policies()), [](const auto& policy) {
  std::string name = policy.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(AnyPolicy, LosesNoChunkAndNeverDeadlocksWithTiersThatFail) {
  std::uint64_t failed = 0, waits = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const auto result = run(scenario, GetParam());
    ASSERT_TRUE(result) << seed << ": " << result.error().text();
    EXPECT_EQ(std::accumulate(result->chunks.begin(), result->chunks.end(), std::uint64_t{0}),
              std::uint64_t{scenario.nodes} * scenario.writers * scenario.chunks)
        << seed;
    EXPECT_GT(result->local_phase_s, 0);
    EXPECT_GT(result->flush_completion_s, result->local_phase_s) << seed;
    failed += result->failed_writes;
    waits += result->waits;
  }
  EXPECT_GT(failed, 0u) << "the schedules contain failures";
  EXPECT_GT(waits, 0u);
}

TEST_P(AnyPolicy, TheSameSeedGivesTheSameOutcomeToTheBit) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Outcome a = run(random_scenario(seed), GetParam()).value(),
                  b = run(random_scenario(seed), GetParam()).value();
    EXPECT_EQ(a.local_phase_s, b.local_phase_s);
    EXPECT_EQ(a.flush_completion_s, b.flush_completion_s);
    EXPECT_EQ(a.chunks, b.chunks);
    EXPECT_EQ(a.waits, b.waits);
  }
}

TEST(Cluster, SaysWhenAPolicyDeadlocks) {
  const MakeDecide never = [] { return Decide([](const placement::View&) { return placement::Decision{}; }); };
  const auto result = run(by_hand(2, 2, 2), never);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), testing::HasSubstr("deadlock: 0 of 4 chunks stored, 2 writers waiting"));
}

TEST(Scenario, RefusesWhatCannotBe) {
  EXPECT_TRUE(check(by_hand(1, 1, 1)));
  Scenario scenario = by_hand(1, 1, 1);
  scenario.writers = 0;
  EXPECT_EQ(check(scenario).error().code, PERDURE_INVALID_ARGUMENT);
  scenario = by_hand(1, 1, 1);
  scenario.failures = {{0, 1, std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(check(scenario).error().code, PERDURE_INVALID_ARGUMENT);
  scenario = by_hand(1, 1, 1);
  scenario.node.tiers.pop_back();
  scenario.chunk_bytes = 101;
  EXPECT_EQ(check(scenario).error().code, PERDURE_NO_SPACE);
}

TEST(Scenario, TheIdealCacheHoldsEverything) {
  const Outcome ideal = outcome(by_hand(4, 4, 1), "cache-only");
  EXPECT_THAT(ideal.chunks, testing::ElementsAre(16, 0));
  EXPECT_EQ(ideal.waits, 0u);
}

TEST(Scenario, SlowDownIsTheLocalPhaseAndAPartOfTheFlushBehindIt) {
  Outcome one;
  one.local_phase_s = 10;
  one.flush_completion_s = 30;
  EXPECT_DOUBLE_EQ(slow_down(one, 100, 0.1), 0.12);
}

}  // namespace
}  // namespace perdure::simulate
