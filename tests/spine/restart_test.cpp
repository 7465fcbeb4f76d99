// Tests the main task end to end: protect, checkpoint, die, and restore the right content.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Restart : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, Restart, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Restart, AnUndisturbedRunEndsAndTheNextRestoresItsLastVersion) {
  TemporaryDirectory directory;
  Program program{options_in(directory.path(), GetParam())};
  program.wait_for_store = true;
  auto outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  program.must_restore_at_least = 5;
  program.last = 6;
  outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
}

TEST_P(Restart, AKilledRankLosesNothingThatWasCheckpointed) {
  TemporaryDirectory directory;
  Program program{options_in(directory.path(), GetParam(), "node.ranks_per_node=2")};
  auto outcome = run_ranks({}, [&](const Rank& rank) {
    if (rank.rank == 2) ::setenv("PERDURE_TEST_CRASH", "checkpoint_chunk_written:5", 1);
    return program.run(rank);
  });
  EXPECT_EQ(outcome.exit_codes[2], 128 + SIGKILL) << outcome.text();
  program.must_restore_at_least = 1;
  outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
}

}  // namespace
