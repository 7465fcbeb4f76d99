// Tests versions whose outcome some engine never learnt. A version that a rank was told it has must survive deaths
// during the settlement.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "damage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

// Two nodes of one rank each, with an engine each.
std::string two_nodes(const std::string& directory) {
  return options_in(directory, "daemon", "node.ranks_per_node=1;retention.keep_last=2");
}

// Makes checkpoints 1 to 3. Engine 0 dies when it is told that the third is committed.
int three_checkpoints(const Rank& rank, perdure_t* handle, std::uint64_t& step, std::vector<std::uint64_t>& state) {
  perdure_protect(handle, 1, &step, sizeof step, 1);
  perdure_protect(handle, 2, state.data(), sizeof(std::uint64_t), state.size());
  for (step = 1; step <= 3; ++step) {
    const auto fresh = state_at(rank.rank, step, state.size());
    std::copy(fresh.begin(), fresh.end(), state.begin());
    if (perdure_checkpoint(handle, "app", static_cast<std::int64_t>(step)) != PERDURE_OK) return 50;
  }
  return 0;
}

void expect_version_three_comes_back(const std::string& directory) {
  Program program{two_nodes(directory)};
  program.words = 24000;
  program.last = 4;
  program.must_restore_at_least = 3;
  RunOptions run;
  run.ranks = 2;
  const auto outcome = run_ranks(run, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory);
}

TEST(Settlement, AnEngineThatDiesWhenAskedWhatItHoldsDoesNotCostTheVersion) {
  TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 2;
  // Engine 1 survives its first inventory, when the handle is opened, and dies in the next.
  run.in_child = [](int rank) {
    ::setenv("PERDURE_TEST_CRASH", rank == 0 ? "engine_commit_before_catalog:3" : "engine_inventory:2", 1);
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    // An engine must not become idle while the other node's is still starting.
    perdure_t* handle = rank.open(two_nodes(directory.path()) + ";engine.idle_exit=60");
    std::uint64_t step = 0;
    std::vector<std::uint64_t> state(24000);
    if (int bad = three_checkpoints(rank, handle, step, state)) return bad;
    ::unsetenv("PERDURE_TEST_CRASH");  // engines that are started now must live
    if (perdure_wait(handle, "app", 3, PERDURE_LEVEL_STORE, 30) != PERDURE_OK) {
      std::fprintf(stderr, "rank %d: %s\n", rank.rank, perdure_error_text(handle));
      return 51;
    }
    return perdure_close(&handle) == PERDURE_OK ? 0 : 52;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  expect_version_three_comes_back(directory.path());
}

// Node 1's segment is in the store, and its engine ended in order and kept nothing. Node 0 has its piece in memory and
// does not know that the version was agreed.
TEST(Settlement, ASegmentAtTheStoreCountsWhereItsNodeLetGo) {
  TemporaryDirectory directory;
  RunOptions run;
  run.ranks = 2;
  run.kill_all_when_one_dies = false;
  run.in_child = [](int rank) {
    if (rank == 0) ::setenv("PERDURE_TEST_CRASH", "engine_commit_before_catalog:3", 1);
  };
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(two_nodes(directory.path()));
    std::uint64_t step = 0;
    std::vector<std::uint64_t> state(24000);
    if (int bad = three_checkpoints(rank, handle, step, state)) return bad;
    rank.barrier();
    ::_exit(0);  // as if the batch system had ended the job here
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  expect_version_three_comes_back(directory.path());
}

TEST(Settlement, AnEngineThatDiesWhenARestoreAsksItDoesNotMakeTheRanksTakeAnOlderVersion) {
  for (const char* point : {"engine_locate:1", "engine_inventory:2"}) {
    TemporaryDirectory directory;
    RunOptions run;
    run.ranks = 2;
    run.in_child = [&](int rank) {
      if (rank == 1) ::setenv("PERDURE_TEST_CRASH", point, 1);
    };
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(two_nodes(directory.path()));
      std::uint64_t step = 0;
      std::vector<std::uint64_t> state(24000);
      if (int bad = three_checkpoints(rank, handle, step, state)) return bad;
      ::unsetenv("PERDURE_TEST_CRASH");
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      if (step != 3 || state != state_at(rank.rank, 3, state.size())) return 52;
      return perdure_close(&handle) == PERDURE_OK ? 0 : 53;
    });
    EXPECT_TRUE(outcome.all(0)) << point << ": " << outcome.text();
    stop_daemons(directory.path());
  }
}

// Node 0's engine dies when it is told that version 3 is committed; node 1 has learnt it. No segment of it reaches the
// store.
class NodeAway : public ::testing::Test {
 protected:
  static constexpr std::size_t kWords = 24000;  // two chunks
  std::string options(const std::string& more) const {
    return options_in(directory_.path(), "daemon", "engine.idle_exit=60;node.ranks_per_node=1" + more);
  }
  /// No segment of version 3 reaches the store. Afterwards all processes are dead, without closing.
  void expect_done(const std::string& crash_of_node_0, const std::string& more,
                   const std::function<int(const Rank&, perdure_t*, State&)>& part) const {
    RunOptions run;
    run.ranks = 2;
    run.kill_all_when_one_dies = false;
    run.in_child = [&](int rank) {
      ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store/app/3:ENOSPC").c_str(), 1);
      if (rank == 0 && !crash_of_node_0.empty()) ::setenv("PERDURE_TEST_CRASH", crash_of_node_0.c_str(), 1);
    };
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options(more));
      State state(rank.rank, kWords);
      state.protect(handle);
      const int code = part(rank, handle, state);
      if (code == 0) rank.barrier();
      return code;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    kill_engines(directory_.path());
  }
  void first_launch(const std::string& more = "") const {
    expect_done("engine_commit_before_catalog:3", more, [](const Rank&, perdure_t* handle, State& state) {
      for (std::uint64_t step = 1; step <= 3; ++step) {
        state.advance(step);
        const auto version = static_cast<std::int64_t>(step);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
        if (step < 3) REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 60));
      }
      return 0;
    });
  }
  static int restore(perdure_t* handle, State& state, std::uint64_t step) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == step && state.right());
    return 0;
  }
  TemporaryDirectory directory_;
};

TEST_F(NodeAway, WhatItWasToldIsThereWhenItIsBack) {
  first_launch();
  // While the node is away, the store's older version is used.
  for (int launch = 0; launch < 2; ++launch)
    expect_done("", ";node.numbers=0,7",
                [](const Rank&, perdure_t* handle, State& state) { return restore(handle, state, 2); });
  expect_done("", ";node.numbers=0,1",
              [](const Rank&, perdure_t* handle, State& state) { return restore(handle, state, 3); });
}

// A tier of two slots, which its part of version 3 fills.
TEST_F(NodeAway, WhatIsKeptUntilItIsBackMakesRoomForTheNextCheckpoint) {
  const std::string room = ";tier.order=memory;tier.memory.max_bytes=4MiB;checkpoint.timeout=60";
  first_launch(room);
  expect_done("", room + ";node.numbers=0,7", [](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(restore(handle, state, 2) == 0);
    state.advance(3);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 3));
    const bool said = all_reports(handle).find("version 3: what is here of it was given up") != std::string::npos;
    REQUIRE(said == (rank.rank == 0));
    state.advance(9);
    return restore(handle, state, 3);
  });
}

}  // namespace
