#include "engine/ledger/interference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "config/config.hpp"
#include "engine/host/engine.hpp"
#include "engine/ledger/node_state_testing.hpp"
#include "ipc/channel.hpp"
#include "os/system.hpp"
#include "placement/flush_pool.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

namespace perdure::engine {
namespace {

/// Ranks that compute for a second between their checkpoints. A flush runs in every second step.
struct Job {
  Interference interference{0};
  double now_s = 1;
  int number = 0;
  void step(const std::vector<double>& slowdowns) {
    const bool flushed = ++number % 2 == 0;
    double longest = 0;
    if (flushed) interference.flush_begins(now_s);
    for (double slowdown : slowdowns) longest = std::max(longest, 1 + (flushed ? slowdown : 0));
    for (std::size_t rank = 0; rank < slowdowns.size(); ++rank) {
      const double seconds = 1 + (flushed ? slowdowns[rank] : 0);
      interference.step(rank, now_s + seconds, seconds);
    }
    now_s += longest;
    if (flushed) interference.flush_ends(now_s);
    now_s += 0.1;
  }
};

TEST(Interference, ComparesStepsWithAndWithoutAFlush) {
  Job job;
  EXPECT_FALSE(job.interference.slowdown());
  for (int i = 0; i < 10; ++i) job.step({0.25});
  EXPECT_NEAR(job.interference.slowdown().value(), 0.25, 1e-6);
  EXPECT_NEAR(job.interference.quiet_step_s().value(), 1, 1e-6);
  EXPECT_EQ(job.interference.steps(), 10u);
  EXPECT_EQ(job.interference.flushed_steps(), 5u);
}

TEST(Interference, IsThatOfTheMiddleRank) {
  Job job;
  for (int i = 0; i < 10; ++i) job.step({0.25, 0, 0.25, 9, 0.25});
  EXPECT_NEAR(job.interference.slowdown().value(), 0.25, 1e-6);
}

TEST(Interference, ForgetsRanksThatAreGone) {
  Job job;
  for (int i = 0; i < 10; ++i) job.step({0.25});
  job.interference.client_gone(0);
  EXPECT_FALSE(job.interference.slowdown());
  EXPECT_EQ(job.interference.steps(), 0u);
}

TEST(Interference, WhatAClientInventsSaysNothing) {
  Interference interference(100);
  for (const double seconds : {0.0, -1.0, 50.0, 1.8e10, 1e300}) interference.step(1, 120, seconds);
  EXPECT_EQ(interference.steps(), 0u) << "no length, or longer than the engine lives";
  interference.step(1, 120, 20);
  EXPECT_EQ(interference.steps(), 1u);
}

/// An application, its flushes and the pool that limits them, in ticks of virtual time. Each thread slows the
/// application down by `price`. Every checkpoint, after a second's work, leaves chunks that take a fiftieth of a second
/// each.
struct Loop {
  placement::FlushPool pool;
  Interference interference{0};
  double price, budget, noise, now_s = 0, entered_s = 0, work_s = 0, all_work_s = 1, chunks = 0;
  std::mt19937 random{1};
  unsigned running = 0, ticks = 0;
  unsigned limit = 4;
  double chunks_each = 40;  // left by a checkpoint
  double flush_s = 0, over_budget_s = 0, most_chunks = 0;
  // while there is something to flush: the elapsed time, and the part of it that the work needs
  double beside_s = 0, work_beside_s = 0;

  Loop(double the_price, double the_budget, double the_noise = 0)
      : price(the_price), budget(the_budget), noise(the_noise) {}
  void tick() {
    constexpr double kTickS = 0.005;
    const placement::Pressure pressure = interference.pressure(budget);
    const auto pending = static_cast<std::uint64_t>(std::ceil(chunks));
    const bool ends = running == 1 && ++ticks % 4 == 0;  // the end of one thread's chunk
    if (ends) interference.flush_ends(now_s), running = 0, pool.idle(now_s);
    const unsigned threads = pool.decide({now_s, running, limit, pending, chunks > 400, pressure}).threads;
    for (; running < threads; ++running) interference.flush_begins(now_s);
    for (; running > threads; --running) interference.flush_ends(now_s);
    now_s += kTickS;
    pool.observe(now_s, threads, threads);
    chunks = std::max(chunks - threads * kTickS * 50, 0.0);
    work_s += kTickS / (1 + price * threads);
    if (pending > 0) beside_s += kTickS, work_beside_s += kTickS / (1 + price * threads);
    flush_s += threads > 0 ? kTickS : 0;
    over_budget_s += price * threads > budget ? kTickS : 0;
    if (work_s < all_work_s) return;
    all_work_s = std::uniform_real_distribution(1 - noise, 1 + noise)(random);
    interference.step(1, now_s, now_s - entered_s);
    now_s += 0.1;  // for the checkpoint
    entered_s = now_s;
    work_s = 0;
    chunks += chunks_each;
    most_chunks = std::max(most_chunks, chunks);
  }
  void run(double seconds) {
    flush_s = over_budget_s = most_chunks = beside_s = work_beside_s = 0;
    for (const double end_s = now_s + seconds; now_s < end_s;) tick();
  }
};

TEST(Interference, WithTheFlushPoolKeepsTheApplicationWithinItsBudget) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  Loop without(0.08, 0);
  without.run(2000);
  EXPECT_NEAR(without.interference.slowdown().value_or(0.32), 0.32, 0.05);
  Loop loop(0.08, 0.1);
  loop.run(2000);
  EXPECT_NEAR(loop.interference.slowdown().value(), 0.08, 0.03);
  loop.run(4000);
  EXPECT_LT(loop.over_budget_s, 0.05 * loop.flush_s);
  EXPECT_GT(loop.flush_s, 1000);
  EXPECT_LE(loop.most_chunks, 400 + 40) << "what waits is bounded";
}

TEST(Interference, WithTheFlushPoolSeesTheBudgetThroughNoise) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  Loop loop(0.04, 0.1, 0.05);
  loop.run(2000);
  loop.run(4000);
  EXPECT_LT(loop.over_budget_s, 0.35 * loop.flush_s);
  EXPECT_GT(loop.flush_s, 1000);
}

// Chunks that one thread flushes in a quarter of a step then take most of the step.
TEST(Interference, OneThreadThatIsTooMuchRestsSoThatTheBudgetIsKept) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  for (const double price : {0.2, 0.3, 0.4})
    for (const double noise : {0.0, 0.03}) {
      Loop without(price, 0, noise);
      without.limit = 1;
      without.chunks_each = 13;
      without.run(4000);
      EXPECT_NEAR(without.beside_s / without.work_beside_s - 1, price, 0.01);
      Loop loop(price, 0.1, noise);
      loop.limit = 1;
      loop.chunks_each = 13;
      loop.run(1000);
      loop.run(4000);
      const double slowdown = loop.beside_s / loop.work_beside_s - 1;
      // With noise, only slowdowns that are certainly over the budget are limited.
      EXPECT_LT(slowdown, noise > 0 ? 0.15 : 0.125) << price << ", noise " << noise;
      EXPECT_GT(slowdown, 0.05) << price << ", noise " << noise << ": it does flush";
      EXPECT_LT(loop.most_chunks, 400) << price << ", noise " << noise << ": no checkpoint waits";
    }
}

TEST(Interference, ABudgetThatNoFlushKeepsStillLetsEverythingReachTheStore) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  Loop loop(0.5, 0.05);
  loop.run(5000);
  EXPECT_LE(loop.most_chunks, 400 + 40);
  EXPECT_GT(loop.flush_s, 50);
}

using NodeStateInterference = NodeStateFixture;

TEST_F(NodeStateInterference, IsFedByStepsAndByTheChunksThatAreFlushed) {
  open({4});
  ASSERT_TRUE(checkpoint(1));
  const auto& held = core->find(id(1))->pieces.at(0).chunks[0];
  const FlushedChunk chunk{{0, 0}, {held.place, held.offset}, 4096, kChunk};
  for (int i = 0; i < 6; ++i) {
    os::shift_monotonic_clock(2'000'000);
    core->step(1, 0.001);
    const auto started = core->flushes.chunk_begins(id(1), chunk);
    ASSERT_TRUE(started);
    os::shift_monotonic_clock(4'000'000);
    core->step(1, 0.003);
    core->flushes.chunk_ended(id(1), chunk, *started, true, false);
  }
  EXPECT_EQ(core->observed().interference.steps(), 12u);
  EXPECT_EQ(core->observed().interference.flushed_steps(), 6u);
  EXPECT_TRUE(core->observed().interference.slowdown());
  core->client_gone(1);
  EXPECT_FALSE(core->observed().interference.slowdown());
}

TEST(EngineInterference, AStepIsCountedAndNeverAnswered) {
  const test_support::TemporaryDirectory directory;
  const std::string at = directory.path();
  config::Config config;
  ASSERT_TRUE(config.set_all("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                 "/file;tier.order=file;chunk_bytes=64KiB",
                             config::Origin::program));
  auto claimed = claim(config, "here");
  ASSERT_TRUE(claimed);
  const auto engine = Engine::start(config, std::get<Claim>(std::move(*claimed)), false).value();
  const auto connect = [&] {
    auto channel = ipc::Channel::connect(engine->socket_path()).value();
    ipc::Hello hello;
    hello.fingerprint = config.fingerprint();
    EXPECT_TRUE(channel.call(hello));
    return channel;
  };
  auto watcher = connect(), rank = connect();
  const auto steps = [&] {
    return base::decode_cbor(watcher.call(ipc::Top{}).value().cbor, "top").value()["application"]["steps"];
  };
  ASSERT_TRUE(rank.tell(ipc::Step{1000}));
  ASSERT_TRUE(rank.tell(ipc::Step{~0ULL}));
  ASSERT_TRUE(rank.call(ipc::Progress{})) << "nothing is read in place of its reply";
  EXPECT_EQ(steps(), 1);
  rank.close();
  EXPECT_TRUE(test_support::eventually("the rank's steps are forgotten", [&] { return steps() == 0; }));
}

}  // namespace
}  // namespace perdure::engine
