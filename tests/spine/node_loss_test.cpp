// Tests the loss of simulated nodes with everything: processes, engine, tiers. Their group's redundancy restores every
// byte, without the store. Losses beyond the scheme's limit are reported, and no wrong data comes back.
#include "node_loss.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "os/crash_point.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace perdure::test_support;

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
  add("embedded_on_write", "xor", 4, 2, {1}, true);
  add("daemon_on_write", "buddy", 4, 1, {0, 2}, true);
  add("embedded_on_write", "reed-solomon", 4, 1, {0, 3}, true, ";redundancy.during_capture=always");
  add("embedded_on_write", "xor", 4, 1, {1, 2}, false);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Schemes, NodeLoss, ::testing::ValuesIn(losses()),
                         [](const auto& param) { return param.param.name; });

TEST_P(NodeLoss, WhatTheSchemeSurvivesComesBackWithoutTheStore) {
  live_and_die(2);
  ASSERT_NO_FATAL_FAILURE(lose(loss().lost));
  expect_done(without_store(), "", [&](const Rank& rank, perdure_t* handle, State& state) {
    const bool lost = loss().lost.contains(rank.rank / loss().per_node);
    const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
    if (!loss().survives) {
      REQUIRE(status == PERDURE_INCOMPLETE);
      REQUIRE(state.step == 0 && state.right());
      return 0;
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
    // Level node holds again for it, and for the next versions.
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_NODE, 30));
    return checkpoint_to_node(handle, state, 3);
  });
}

// Other events with four nodes of one rank each and one parity.
class FourNodes : public NodeLoss {};
std::vector<Loss> four_nodes() {
  const Loss embedded{"embedded", "embedded", "xor", 4, 1, {}, true, ";redundancy.during_capture=always"},
      daemon{"daemon", "daemon", "xor", 4, 1, {}, true, ";redundancy.during_capture=never"};
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

// An engine of the next launch flushes the versions that it finds, and so meets the damage before any rank. The next
// launch has redundancy or not.
TEST_P(FourNodes, ADamagedPieceThatAFlushMeetsFirstIsRebuilt) {
  for (const char* other : {";node.numbers=0,1,2,3", ";node.numbers=3,2,1,0", ";redundancy.scheme=single"}) {
    SCOPED_TRACE(other);
    TearDown();
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
    live_and_die(2);
    ASSERT_EQ(damage_slots(directory_.path(), 2, 2), 1U);
    SharedMemory<std::atomic<int>> met;
    expect_done(with_store(), other, [&](const Rank& rank, perdure_t* handle, State& state) {
      REQUIRE(eventually("some flush meets the damage", [&] {
        if (all_reports(handle).find("it will not be used") != std::string::npos) ++*met;
        return *met > 0;
      }));
      rank.barrier();
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      REQUIRE(state.step == 2 && state.right());
      return 0;
    });
  }
}

TEST_P(FourNodes, BeyondToleranceAnOlderVersionIsNotMadeUp) {
  live_and_die(2);
  lose({1, 3});
  expect_done(without_store(), "", [](const Rank&, perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_INCOMPLETE, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    const std::string why = perdure_error_text(handle);
    REQUIRE(why.find("app version 2") != std::string::npos && why.find("which lacks 2") != std::string::npos);
    return 0;
  });
}

TEST_P(FourNodes, AnotherNumberOfRanksIsRefusedAndLeavesTheCheckpointForTheRightOne) {
  live_and_die(2);
  RunOptions three = without_store();
  three.ranks = 3;
  expect_done(three, "", [](const Rank&, perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(std::string(perdure_error_text(handle)).find("4 ranks") != std::string::npos);
    return 0;
  });
  lose({2});
  expect_restored(2);
}

TEST_P(FourNodes, AnOrderlyEndLeavesNothingOnTheNodes) {
  const auto outcome = run_ranks(with_store(), [&](const Rank& rank) {
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
    EXPECT_TRUE(eventually("nothing is left on the nodes", [&] { return fs::is_empty(directory_.path() + part); }))
        << part;
}

TEST_P(FourNodes, OnRequestACheckpointReturnsAtLevelNode) {
  expect_done(without_store(), ";redundancy.in_call=true", [](const Rank&, perdure_t* handle, State& state) {
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    perdure_level level{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
    REQUIRE(level == PERDURE_LEVEL_NODE);
    return 0;
  });
}

TEST_P(FourNodes, AJobOnOneNodeSaysThatNothingIsKeptElsewhereAndWorks) {
  expect_done(with_store(), ";node.ranks_per_node=4", [](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(checkpoint_to_node(handle, state, 1) == 0);
    perdure_level level{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
    REQUIRE(level == PERDURE_LEVEL_STORE);  // which also survives the loss of a node
    if (rank.rank == 0) REQUIRE(all_reports(handle).find("level node is not reached") != std::string::npos);
    REQUIRE_STATUS(PERDURE_OK, nullptr, perdure_close(&handle));
    return 0;
  });
}

TEST_P(FourNodes, AGroupThatTheSchemeCannotHaveIsRefusedWithTheReason) {
  const auto outcome = run_ranks(with_store(), [&](const Rank& rank) {
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

// First three nodes with two ranks each; then two nodes with three.
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

// Rebuilt pieces, and pieces that other nodes still hold or have stored, become one complete version in the store,
// wherever the ranks run now.
class Completed : public NodeLoss {
 protected:
  /// A launch on these nodes restores step 2, and sees it reach the store. After the loss of the nodes it is still
  /// there.
  void expect_completed(const std::string& more) const {
    expect_done(with_store(), more, [](const Rank&, perdure_t* handle, State& state) {
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      REQUIRE(state.step == 2 && state.right());
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
      return 0;
    });
    if (HasFailure()) return;  // the logs of these engines say why
    for (const char* part : {"/node", "/file"}) fs::remove_all(directory_.path() + part);
    expect_done(with_store(), more, [](const Rank&, perdure_t* handle, State& state) {
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
      REQUIRE(state.step == 2 && state.right());
      perdure_progress progress;
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
      REQUIRE(progress.restore_source == 2);
      return 0;
    });
  }
  static constexpr const char* kSurvivors = ";node.ranks_per_node=3;node.numbers=2,0";
  /// Node 1 is lost, and its part of step 2 was recovered to the survivors, which then die.
  void cut_off_a_recovery() const {
    live_and_die(2);
    lose({1});
    RunOptions run = without_store();
    run.kill_all_when_one_dies = true;
    run.in_child = [in_child = run.in_child](int rank) {
      in_child(rank);
      if (rank == 0) ::setenv("PERDURE_TEST_CRASH", "recover_after_catalog:4", 1);
    };
    (void)outcome_of(run, kSurvivors, [](const Rank&, perdure_t* handle, State&) {
      (void)perdure_restore(handle, "app", PERDURE_LATEST);
      return 0;
    });
  }
  /// Counts the stored segments of version 2.
  std::size_t segments_stored() const {
    std::error_code none_yet;
    std::size_t segments = 0;
    for (const auto& entry : fs::directory_iterator(directory_.path() + "/store/app/2", none_yet))
      segments += entry.path().extension() == ".pds" ? 1 : 0;
    return segments;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Completed,
                         ::testing::Values(Loss{"embedded", "embedded", "xor", 3, 2, {}, true, ""},
                                           Loss{"daemon", "daemon", "xor", 3, 2, {}, true, ""},
                                           Loss{"each_rank", "embedded", "buddy", 3, 2, {}, true, ";segment.per=rank"}),
                         [](const auto& param) { return param.param.name; });

TEST_P(Completed, OnASpareNode) {
  live_and_die(2);
  lose({1});
  expect_completed(";node.numbers=0,7,2");
}

TEST_P(Completed, WhereOthersRunElsewhere) {
  live_and_die(2);
  lose({1});
  expect_completed(";node.numbers=2,7,0");
}

TEST_P(Completed, OnTheSurvivorsAloneWhereTheLostNodesRanksAreSeparated) {
  live_and_die(2);
  lose({1});
  expect_completed(";node.ranks_per_node=3;node.numbers=2,0");
}

// All pieces are where they are needed by then, and no decision about them was recorded.
TEST_P(Completed, AfterARecoveryThatWasCutOffBeforeItsCommit) {
  cut_off_a_recovery();
  expect_completed(kSurvivors);
}

// The launch only waits.
TEST_P(Completed, AfterARecoveryThatWasCutOffWhereNobodyRestores) {
  cut_off_a_recovery();
  expect_done(with_store(), kSurvivors, [](const Rank&, perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 60));
    return 0;
  });
  for (const char* part : {"/node", "/file"}) fs::remove_all(directory_.path() + part);
  expect_completed(kSurvivors);
}

TEST_P(Completed, WhenAPartIsThereAlready) {
  live_and_die(2);
  RunOptions for_one_node = with_store();  // the store accepts only the writes of node 2
  for_one_node.in_child = [in_child = without_store().in_child](int rank) {
    if (rank < 4) in_child(rank);
  };
  expect_done(for_one_node, "", [&](const Rank&, perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(eventually("a segment is stored", [&] { return segments_stored() > 0; }));
    return 0;
  });
  lose({1});
  expect_completed(";node.ranks_per_node=3;node.numbers=2,0");
}

// Engines die at every step of replication and of recovery. Versions that were at level node before survive.
TEST_P(FourNodes, EnginesThatDieWhileTheyProtectOrRecoverLoseNothing) {
  for (const auto& point : perdure::os::kCrashPoints) {
    if (point.role != "redundancy") continue;
    live_and_die(2);
    lose({1});
    const std::string marker = directory_.path() + "/marker";
    RunOptions run = without_store();
    run.kill_all_when_one_dies = true;
    const int dies = point.name == "export_answered" ? 2 : 1;  // the lost node has nothing to export
    run.in_child = [full = run.in_child, name = std::string(point.name), marker, dies](int rank) {
      full(rank);
      // In daemon mode the engine of this node inherits it.
      if (rank == dies) ::setenv("PERDURE_TEST_CRASH", name.c_str(), 1);
      if (rank == dies) ::setenv("PERDURE_TEST_CRASH_MARKER", marker.c_str(), 1);
    };
    (void)outcome_of(run, "", [](const Rank&, perdure_t* handle, State&) {
      if (perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK)
        (void)perdure_wait(handle, "app", 2, PERDURE_LEVEL_NODE, 2);
      return 0;
    });
    EXPECT_TRUE(fs::exists(marker)) << point.name << " was not reached";
    fs::remove(marker);
    expect_restored(2);
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
  }
}

}  // namespace
