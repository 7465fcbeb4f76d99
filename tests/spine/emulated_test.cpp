// Tests the whole system on emulated devices that delay every write: no version is lost, and no rank waits for ever.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>

#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Emulated : public ::testing::TestWithParam<const char*> {
 protected:
  // Chunks take some ten milliseconds; the first tier has room for four chunks.
  Program program(const std::string& of_cache = {}, const std::string& of_disk = {}) const {
    std::ofstream(directory_.path() + "/node.toml") << R"(
tiers = ["cache", "disk"]
[tier.cache]
streams = [1, 4]
bytes_per_s = ["20MB", "60MB"]
capacity = "512KiB"
)" << of_cache << R"(
[tier.disk]
streams = [1, 4]
bytes_per_s = ["8MB", "16MB"]
latency_s = 0.001
)" << of_disk << R"(
[store]
streams = [1, 2]
bytes_per_s = ["20MB", "40MB"]
variability = 0.3
variability_period_s = 0.1
)";
    Program program{options_in(directory_.path(), GetParam(),
                               "node.ranks_per_node=2;emulate.description=" + directory_.path() + "/node.toml")};
    program.wait_for_store = true;
    return program;
  }
  /// Checks that the last version is restored, and that the last two are complete in the store.
  void expect_all_stored(Program run, std::int64_t last) const {
    run.last = last;
    run.restore_at_end = true;
    const auto outcome = run_ranks({}, [&](const Rank& rank) { return run.run(rank); });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
    expect_clean_store(directory_.path() + "/store", "app",
                       {static_cast<std::uint64_t>(last - 1), static_cast<std::uint64_t>(last)});
  }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, Emulated, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Emulated, CheckpointsAreStoredAndRestored) { expect_all_stored(program(), 5); }

// The slump begins and ends somewhere in a checkpoint or in a flush.
TEST_P(Emulated, ATierThatSlowsToACrawlForEverLosesNothing) {
  expect_all_stored(program("slump_factor = 0.02\nslump_from_s = 0.2"), 12);
}

TEST_P(Emulated, TiersThatCrawlAndComeBackLoseNothing) {
  expect_all_stored(program("slump_factor = 0.01\nslump_from_s = 0.1\nslump_until_s = 1.2",
                            "slump_factor = 0.01\nslump_from_s = 0.5\nslump_until_s = 1.5"),
                    12);
}

TEST_P(Emulated, ARankThatDiesWhileItsChunkIsWrittenLosesNothingThatWasCheckpointed) {
  Program run = program();
  auto outcome = run_ranks({}, [&](const Rank& rank) {
    if (rank.rank == 3) ::setenv("PERDURE_TEST_CRASH", "checkpoint_chunk_written:6", 1);
    return run.run(rank);
  });
  EXPECT_EQ(outcome.exit_codes[3], 128 + SIGKILL) << outcome.text();
  run.must_restore_at_least = 1;
  outcome = run_ranks({}, [&](const Rank& rank) { return run.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Emulated, AnEngineThatDiesWhileItWritesIsReplacedOrTheJobIs) {
  Program run = program();
  run.tolerate_lost_engine = true;
  run.acknowledged = directory_.path() + "/acknowledged";
  auto outcome = run_ranks({}, [&](const Rank& rank) {
    ::setenv("PERDURE_TEST_CRASH", "engine_written:9", 1);
    return run.run(rank);
  });
  for (const int code : outcome.exit_codes) EXPECT_TRUE(code == 0 || code == 128 + SIGKILL) << outcome.text();
  stop_daemons(directory_.path());
  run.must_restore_at_least = newest_acknowledged(run.acknowledged, 4);
  EXPECT_GE(run.must_restore_at_least, 1);
  run.last = 7;
  outcome = run_ranks({}, [&](const Rank& rank) { return run.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  expect_clean_store(directory_.path() + "/store", "app", {6, 7});
}

}  // namespace
