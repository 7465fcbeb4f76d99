// Simulated nodes are lost with all they had: processes, engine, tiers. What their group keeps brings every byte back,
// without the store; beyond what the scheme survives that is said, and nothing wrong comes back.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "config/config.hpp"
#include "damage.hpp"
#include "engine/node_directory.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::size_t kLossWords = 24000;  // two chunks

struct Loss {
  std::string name, mode, scheme;
  int nodes = 4, per_node = 1;
  std::set<int> lost;
  bool survives = true;
  std::string more;
};
void PrintTo(const Loss& loss, std::ostream* out) { *out << loss.name; }

class NodeLoss : public ::testing::TestWithParam<Loss> {
 protected:
  const Loss& loss() const { return GetParam(); }
  int ranks() const { return loss().nodes * loss().per_node; }
  std::string options(const std::string& more = "") const {
    return options_in(directory_.path(), loss().mode,
                      "engine.idle_exit=60;node.ranks_per_node=" + std::to_string(loss().per_node) +
                          ";redundancy.scheme=" + loss().scheme + loss().more + more);
  }
  // A new launch that must have this step (0: nothing), from what the nodes have.
  void expect_restored(std::uint64_t step, const std::string& more = "", const std::string& report = "") const {
    SharedMemory<std::atomic<int>> reported;
    const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
      without_store();
      perdure_t* handle = rank.open(options(more));
      State state(rank.rank, kLossWords);
      state.protect(handle);
      const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
      REQUIRE_STATUS(step == 0 ? PERDURE_NOT_FOUND : PERDURE_OK, handle, status);
      REQUIRE(state.step == step && state.right());
      if (all_reports(handle).find(report) != std::string::npos) ++*reported;
      rank.barrier();
      if (step != 0) {
        state.advance(step + 10);
        const auto next = static_cast<std::int64_t>(state.step);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", next));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", next, PERDURE_LEVEL_NODE, 30));
      }
      rank.barrier();
      ::_exit(0);
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    EXPECT_GT(reported->load(), 0) << "nobody said: " << report;
    kill_engines(directory_.path());
  }
  RunOptions run_options() const {
    RunOptions run;
    run.ranks = ranks();
    run.kill_all_when_one_dies = false;
    return run;
  }
  void without_store() const {
    ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store:ENOSPC").c_str(), 1);
  }
  // Checkpoints up to `last`, each at level node, then the death of everything.
  void live_and_die(int last) const {
    const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
      without_store();
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kLossWords);
      state.protect(handle);
      for (int version = 1; version <= last; ++version) {
        state.advance(static_cast<std::uint64_t>(version));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 30));
        perdure_level level{};
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", version, &level));
        REQUIRE(level == PERDURE_LEVEL_NODE);
      }
      rank.barrier();
      ::raise(SIGKILL);
      return 0;
    });
    ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
    kill_engines(directory_.path());
  }
  // With all they had: engine directory and tiers.
  void lose(const std::set<int>& nodes) const {
    perdure::config::Config config;
    ASSERT_TRUE(config.set_all(options(), perdure::config::Origin::program));
    for (const int node : nodes) {
      const std::string key = perdure::engine::node_key(config, perdure::os::host_name() + "#" + std::to_string(node));
      std::size_t removed = 0;
      for (const char* part : {"/node", "/file"})
        for (const auto& entry : fs::directory_iterator(directory_.path() + part))
          if (entry.path().filename().string().starts_with(key)) removed += fs::remove_all(entry.path());
      ASSERT_GT(removed, 0U) << "node " << node << " had nothing";
    }
  }
  void TearDown() override { stop_daemons(directory_.path()); }
  TemporaryDirectory directory_;
};

std::vector<Loss> losses() {
  std::vector<Loss> list;
  const auto add = [&](const std::string& mode, const std::string& scheme, int nodes, int per_node, std::set<int> lost,
                       bool survives, const std::string& more = "") {
    std::string name = mode + "_" + scheme.substr(0, 4) + std::to_string(nodes) + "x" + std::to_string(per_node);
    for (const int node : lost) name += "_" + std::to_string(node);
    list.push_back({name, mode, scheme, nodes, per_node, std::move(lost), survives, more});
  };
  add("embedded", "xor", 4, 2, {1}, true);
  add("daemon", "xor", 4, 1, {3}, true);
  add("embedded", "xor", 3, 1, {0}, true);
  add("embedded", "xor", 2, 1, {1}, true);
  add("embedded", "xor", 4, 1, {1, 2}, false);
  add("embedded", "buddy", 4, 1, {0, 2}, true);
  add("daemon", "buddy", 2, 2, {0}, true);
  add("embedded", "buddy", 4, 1, {1, 2}, false);
  add("embedded", "partner", 3, 1, {2}, true);
  add("embedded", "reed-solomon", 4, 1, {0, 3}, true);
  add("daemon", "reed-solomon", 5, 1, {1, 2, 4}, true, ";redundancy.parities=3");
  add("embedded", "reed-solomon", 4, 1, {0, 1, 3}, false);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Schemes, NodeLoss, ::testing::ValuesIn(losses()),
                         [](const auto& param) { return param.param.name; });

TEST_P(NodeLoss, WhatTheSchemeSurvivesComesBackWithoutTheStore) {
  live_and_die(2);
  ASSERT_NO_FATAL_FAILURE(lose(loss().lost));
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    without_store();
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kLossWords);
    state.protect(handle);
    const bool lost = loss().lost.contains(rank.rank / loss().per_node);
    const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
    if (!loss().survives) {
      REQUIRE(status == PERDURE_NOT_FOUND);
      REQUIRE(state.step == 0 && state.right());
      rank.barrier();
      ::_exit(0);
    }
    REQUIRE_STATUS(PERDURE_OK, handle, status);
    REQUIRE(state.step == 2 && state.right());
    perdure_progress progress;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
    REQUIRE(progress.restore_source == (lost ? 5 : 1));
    if (lost && rank.rank % loss().per_node == 0) {
      const std::string reports = all_reports(handle);
      REQUIRE(reports.find("rank " + std::to_string(rank.rank) + ": ") != std::string::npos);
    }
    // Level node is there again for it, and for what comes next.
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_NODE, 30));
    state.advance(3);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 3));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 3, PERDURE_LEVEL_NODE, 30));
    rank.barrier();
    ::_exit(0);
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
}

// Of the same directories and helpers: what else can happen to four nodes with one rank each and a parity.
class FourNodes : public NodeLoss {};
std::vector<Loss> four_nodes() {
  const Loss embedded{"embedded", "embedded", "xor", 4, 1, {}, true, ""},
      daemon{"daemon", "daemon", "xor", 4, 1, {}, true, ""};
  return unless_sanitized<std::vector<Loss>>({embedded, daemon}, {embedded});
}
INSTANTIATE_TEST_SUITE_P(Modes, FourNodes, ::testing::ValuesIn(four_nodes()),
                         [](const auto& param) { return param.param.name; });

TEST_P(FourNodes, ASpareNodeTakesTheLostOnesPlaceAgainAndAgain) {
  live_and_die(2);
  lose({1});
  expect_restored(2, ";node.numbers=0,4,2,3", "rank 1: ");
  lose({3});
  expect_restored(12, ";node.numbers=0,4,2,5", "rank 3: ");
  lose({4});
  expect_restored(22, ";node.numbers=0,6,2,5", "rank 1: ");
}

TEST_P(FourNodes, RanksThatAreElsewhereGetTheirPiecesFromWhereTheyAre) {
  live_and_die(2);
  expect_restored(2, ";node.numbers=3,2,1,0", " moved");
}

TEST_P(FourNodes, WhatIsLostAndWhatIsElsewhereComeTogether) {
  live_and_die(2);
  lose({2});
  expect_restored(2, ";node.numbers=1,0,7,3", " rebuilt");
}

TEST_P(FourNodes, AFlippedByteInDataOfASurvivorIsFoundAndNothingWrongIsRebuilt) {
  live_and_die(2);
  ASSERT_EQ(damage_slots(directory_.path(), 2, 2), 1U);
  lose({1});
  expect_restored(1, "", "it counts as lost");
}

TEST_P(FourNodes, ADamagedPieceIsRebuiltBeforeAnythingIsGivenUp) {
  live_and_die(2);
  ASSERT_EQ(damage_slots(directory_.path(), 2, 2), 1U);
  expect_restored(2, "", " rebuilt");
}

TEST_P(FourNodes, BeyondToleranceAnOlderVersionIsNotMadeUp) {
  live_and_die(2);
  lose({1, 3});
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    without_store();
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kLossWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    const std::string why = perdure_error_text(handle);
    REQUIRE(why.find("app version 2") != std::string::npos && why.find("which lacks 2") != std::string::npos);
    rank.barrier();
    ::_exit(0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
}

TEST_P(FourNodes, AnotherNumberOfRanksIsRefusedAndLeavesTheCheckpointForTheRightOne) {
  live_and_die(2);
  RunOptions three = run_options();
  three.ranks = 3;
  const auto outcome = run_ranks(three, [&](const Rank& rank) {
    without_store();
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kLossWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(std::string(perdure_error_text(handle)).find("4 ranks") != std::string::npos);
    rank.barrier();
    ::_exit(0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
  lose({2});
  expect_restored(2);
}

TEST_P(FourNodes, AnOrderlyEndLeavesNothingOnTheNodes) {
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kLossWords);
    state.protect(handle);
    for (int version = 1; version <= 6; ++version) {
      state.advance(static_cast<std::uint64_t>(version));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
    }
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 6, PERDURE_LEVEL_NODE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 6, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_OK, nullptr, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  expect_clean_store(directory_.path() + "/store", "app", {5, 6});
  for (const char* part : {"/node", "/file"})
    for (int tries = 0; tries < 2000 && !fs::is_empty(directory_.path() + part); ++tries) ::usleep(5000);
  EXPECT_TRUE(fs::is_empty(directory_.path() + "/node"));
  EXPECT_TRUE(fs::is_empty(directory_.path() + "/file"));
}

TEST_P(FourNodes, OnRequestACheckpointReturnsAtLevelNode) {
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    without_store();
    perdure_t* handle = rank.open(options(";redundancy.in_call=true"));
    State state(rank.rank, kLossWords);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    perdure_level level{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
    REQUIRE(level == PERDURE_LEVEL_NODE);
    rank.barrier();
    ::_exit(0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
}

TEST_P(FourNodes, AJobOnOneNodeSaysThatNothingIsKeptElsewhereAndWorks) {
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options(";node.ranks_per_node=4"));
    State state(rank.rank, kLossWords);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    perdure_level level{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
    REQUIRE(level == PERDURE_LEVEL_STORE);  // which survives a node, too
    if (rank.rank == 0) REQUIRE(all_reports(handle).find("level node is not reached") != std::string::npos);
    REQUIRE_STATUS(PERDURE_OK, nullptr, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_P(FourNodes, AGroupThatTheSchemeCannotHaveIsRefusedWithTheReason) {
  const auto outcome = run_ranks(run_options(), [&](const Rank& rank) {
    perdure_t* handle = nullptr;
    char message[500] = "";
    const std::string wrong = options(";redundancy.scheme=reed-solomon;redundancy.parities=4;redundancy.group_size=3");
    const auto status = perdure_open_communicator(&rank.communicator, wrong.c_str(), &handle, message, sizeof message);
    REQUIRE(status == PERDURE_INVALID_ARGUMENT || status == PERDURE_PEER_FAILED);
    REQUIRE(status == PERDURE_PEER_FAILED || std::string(message).find("reed-solomon") != std::string::npos);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

// Three nodes with two ranks each; then two nodes with three.
class ThreeNodes : public NodeLoss {};
INSTANTIATE_TEST_SUITE_P(Schemes, ThreeNodes,
                         ::testing::Values(Loss{"xor", "embedded", "xor", 3, 2, {}, true, ""},
                                           Loss{"buddy", "daemon", "buddy", 3, 2, {}, true, ""}),
                         [](const auto& param) { return param.param.name; });

TEST_P(ThreeNodes, TheSurvivorsAloneGoOn) {
  live_and_die(2);
  lose({2});
  expect_restored(2, ";node.ranks_per_node=3", " rebuilt");
  expect_restored(12, ";node.ranks_per_node=3");
}

// Engines die at every step of protecting and of recovering; what was protected before is there afterwards.
TEST_P(FourNodes, EnginesThatDieWhileTheyProtectOrRecoverLoseNothing) {
  for (const auto& point : perdure::os::kCrashPoints) {
    if (point.role != "redundancy") continue;
    live_and_die(2);
    lose({1});
    const std::string marker = directory_.path() + "/marker";
    RunOptions run = run_options();
    run.kill_all_when_one_dies = true;
    (void)run_ranks(run, [&](const Rank& rank) {
      without_store();
      // In daemon mode the engine of this node inherits it.
      if (rank.rank == 1) ::setenv("PERDURE_TEST_CRASH", std::string(point.name).c_str(), 1);
      if (rank.rank == 1) ::setenv("PERDURE_TEST_CRASH_MARKER", marker.c_str(), 1);
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kLossWords);
      state.protect(handle);
      if (perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK)
        (void)perdure_wait(handle, "app", 2, PERDURE_LEVEL_NODE, 2);
      ::_exit(0);
      return 0;
    });
    EXPECT_TRUE(fs::exists(marker)) << point.name << " was not reached";
    fs::remove(marker);
    kill_engines(directory_.path());
    expect_restored(2);
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
  }
}

}  // namespace
