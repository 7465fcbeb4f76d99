// Kills the perdured of one node while it replicates; the next call starts another one. Versions on the nodes still
// reach level node, without a restore.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "damage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr double kForEver_s = 3600;

perdure_status with_other_engine(const std::function<perdure_status()>& call) {
  const auto passes = [](perdure_status status) {
    return status == PERDURE_UNAVAILABLE || status == PERDURE_PEER_FAILED;
  };
  perdure_status status = call();
  for (int tries = 0; tries < 50 && passes(status); ++tries) status = call();
  return status;
}

int protect_with_another_engine(const Rank& rank, const std::string& options, const char* point) {
  if (rank.rank == 1) ::setenv("PERDURE_TEST_CRASH", point, 1);
  perdure_t* handle = rank.open(options);
  ::unsetenv("PERDURE_TEST_CRASH");  // the node's first engine has it; the second one must live
  State state(rank.rank, 24000);
  state.protect(handle);
  state.advance(1);
  const perdure_status taken = with_other_engine([&] { return perdure_checkpoint(handle, "app", 1); });
  REQUIRE(taken == PERDURE_OK || taken == PERDURE_EXISTS);
  REQUIRE_STATUS(PERDURE_OK, handle,
                 with_other_engine([&] { return perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, kForEver_s); }));
  perdure_level level{};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
  REQUIRE(level == PERDURE_LEVEL_NODE);
  rank.barrier();
  ::_exit(0);
}

class EngineRestart : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(At, EngineRestart,
                         ::testing::Values("keep_before_catalog", "keep_after_catalog", "reached_after_catalog"),
                         [](const auto& point) { return std::string(point.param); });

TEST_P(EngineRestart, WhatWasBeingProtectedReachesLevelNodeWithTheNextEngine) {
  const TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 3;
  run.timeout_s = 100;
  run.in_child = [&](int) {
    ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory.path() + "/store:ENOSPC").c_str(), 1);
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    return protect_with_another_engine(
        rank, options_in(directory.path(), "daemon", "redundancy.scheme=xor;node.ranks_per_node=1;engine.idle_exit=60"),
        GetParam());
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory.path());
}

// No rank waits until its timeout, and the error names the node to look at. The engine dies during the wait, or as soon
// as its own rank asks it for the version, which then notices before the others. A rank asks its engine only about
// versions other than the last one.
class EngineOfAWait : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ends, EngineOfAWait, testing::Values("keep_before_catalog", "engine_inventory:2"));

TEST_P(EngineOfAWait, EndsTheWaitsOfAllForLevelNodeAndIsNamed) {
  const TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 3;
  run.timeout_s = 100;
  run.in_child = [&](int rank) {
    ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory.path() + "/store:ENOSPC").c_str(), 1);
    if (rank == 1) ::setenv("PERDURE_TEST_CRASH", GetParam(), 1);
  };
  const bool asks = std::string(GetParam()) == "engine_inventory:2";
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(
        options_in(directory.path(), "daemon",
                   "redundancy.scheme=xor;redundancy.during_capture=never;node.ranks_per_node=1;engine.idle_exit=60"));
    State state(rank.rank, 24000);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    if (asks) REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_UNAVAILABLE, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, kForEver_s));
    const std::string why = perdure_error_text(handle);
    if (rank.rank != 1) REQUIRE(why.find("#1: its engine is gone") != std::string::npos);
    REQUIRE(perdure_error_retryable(handle));
    rank.barrier();
    ::_exit(0);
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory.path());
}

// The data is in the regions, so the program must know which version it is, even if the engine has died since.
TEST(EngineThatEnds, AfterARestoreLeavesItKnownWhatWasRestored) {
  const TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options_in(directory.path(), "daemon", "engine.idle_exit=60"));
    State state(rank.rank, 1000);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 7));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    kill_engines(directory.path());
    perdure_progress progress{};
    REQUIRE(perdure_get_progress(handle, &progress) != PERDURE_OK);
    REQUIRE(progress.restored_version == 7 && progress.restore_source == 1 && progress.last_bytes > 0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory.path());
}

}  // namespace
