// Tests a launch that cannot reach a tier of the one before, or names tiers differently. Acknowledged versions are
// kept, reported and found again.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "damage.hpp"
#include "faults.hpp"
#include "modes.hpp"
#include "node_loss.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

// Two chunks of 128 KiB at most.
constexpr std::size_t kMissingWords = 24000;

class MissingTiers : public InAMode {
 protected:
  std::string options(const std::string& more = {}) const {
    return options_in(
        directory_.path(), GetParam(),
        "engine.idle_exit=60;retention.keep_last=9;placement.policy=hybrid-naive" + (more.empty() ? "" : ";" + more));
  }
  std::string options_of_order(const std::string& order) const { return options("tier.order=" + order); }
  std::string no_store() const { return "pwrite:" + directory_.path() + "/store:ENOSPC"; }
  /// The rules let only the records of a name reach the store.
  std::string no_segment_of(const std::vector<int>& versions) const {
    std::string rules;
    for (const int version : versions)
      rules += "pwrite:" + directory_.path() + "/store/app/" + std::to_string(version) + "/:ENOSPC;";
    return rules.substr(0, rules.size() - 1);
  }
  std::string arena_once() const { return "open:/arena:EMFILE:1:1"; }

  using Part = std::function<int(perdure_t*, State&)>;
  static RunOptions one_rank() {
    RunOptions run;
    run.ranks = 1;
    return run;
  }
  /// Runs a launch with these options and faults; then its rank and engine are killed.
  void launch(const std::string& options, const std::string& faults, const Part& part,
              const std::string& temporary = {}) const {
    const auto outcome = run_ranks(one_rank(), [&](const Rank& rank) {
      ::setenv("PERDURE_TEST_FAULTS", faults.c_str(), 1);
      if (!temporary.empty()) ::setenv("TMPDIR", temporary.c_str(), 1);
      perdure_t* handle = rank.open(options);
      State state(rank.rank, kMissingWords);
      state.protect(handle);
      if (const int code = part(handle, state); code != 0) return code;
      ::raise(SIGKILL);
      return 0;
    });
    EXPECT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
    kill_engines(directory_.path());
  }
  static int checkpoints(perdure_t* handle, State& state, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t version = from; version <= to; ++version) {
      state.advance(version);
      REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, static_cast<std::int64_t>(version)));
    }
    return 0;
  }
  static int restores(perdure_t* handle, State& state, std::int64_t version, std::uint64_t step) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", version));
    REQUIRE(state.step == step && state.right());
    return 0;
  }
  /// Versions of an earlier launch are on their own branch, which the refusal names.
  static int restores_of_any_branch(perdure_t* handle, State& state, std::int64_t version) {
    const perdure_status status = perdure_restore(handle, "app", version);
    if (status == PERDURE_MISMATCH) {
      const std::string why = perdure_error_text(handle);
      const auto at = why.find("another branch has app@");
      REQUIRE(at != std::string::npos);
      const std::string branch = why.substr(at + std::strlen("another branch has app@"), 6);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_branch(handle, "app", branch.c_str(), version));
    } else {
      REQUIRE_STATUS(PERDURE_OK, handle, status);
    }
    REQUIRE(state.step == static_cast<std::uint64_t>(version) && state.right());
    return 0;
  }
  /// Makes versions 1 to `last`, none of which reaches the store.
  void first_launch(const std::string& options, std::uint64_t last = 3, const std::string& temporary = {}) const {
    launch(
        options, no_store(), [&](perdure_t* handle, State& state) { return checkpoints(handle, state, 1, last); },
        temporary);
  }
  void expect_restored(const std::string& options, std::uint64_t step, const std::string& temporary = {}) const {
    launch(
        options, no_store(),
        [&](perdure_t* handle, State& state) { return restores(handle, state, PERDURE_LATEST, step); }, temporary);
  }
  void TearDown() override { stop_daemons(directory_.path()); }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, MissingTiers, ::testing::Values("embedded", "daemon"), mode_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, MissingTiers, ::testing::Values("embedded_on_write", "daemon_on_write"), mode_name);

// A tier that cannot be opened once is not lost. The launch names it, says that nothing was lost, and is no first
// start.
TEST_P(MissingTiers, ATierThatCannotBeOpenedOnceCostsNothing) {
  first_launch(options());
  launch(options(), no_store() + ";" + arena_once(), [](perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_INCOMPLETE, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    const std::string why = perdure_error_text(handle);
    REQUIRE(why.find("a tier that it cannot reach") != std::string::npos);
    const std::string reports = all_reports(handle);
    REQUIRE(reports.find("tier memory in ") != std::string::npos);
    REQUIRE(reports.find("cannot be reached") != std::string::npos);
    REQUIRE(reports.find("app version 3") != std::string::npos);
    REQUIRE(reports.find("They are kept") != std::string::npos);
    return 0;
  });
  expect_restored(options(), 3);
}

// Some chunks are on the available tier: their slots belong to versions that wait for the other tier.
TEST_P(MissingTiers, ALaunchWithoutATierUsesNoSlotThatIsSomebodyElses) {
  const std::string small = options("tier.memory.max_bytes=6MiB");
  first_launch(small, 4);
  launch(small, no_store() + ";" + arena_once(),
         [](perdure_t* handle, State& state) { return checkpoints(handle, state, 11, 13); });
  launch(small, no_store(), [](perdure_t* handle, State& state) {
    if (const int code = restores(handle, state, PERDURE_LATEST, 13); code != 0) return code;
    for (const std::int64_t version : {11, 12, 13, 1, 2, 3, 4})
      if (const int code = restores_of_any_branch(handle, state, version); code != 0) return code;
    return 0;
  });
}

TEST_P(MissingTiers, AnotherOrderOfTheTiersFindsEverything) {
  const std::string small = "tier.memory.max_bytes=6MiB;tier.order=";
  first_launch(options(small + "memory,file"), 4);
  launch(options(small + "file,memory"), no_store(), [](perdure_t* handle, State& state) {
    for (const std::int64_t version : {1, 2, 3, 4})
      if (const int code = restores(handle, state, version, static_cast<std::uint64_t>(version)); code != 0)
        return code;
    return checkpoints(handle, state, 5, 5);
  });
  expect_restored(options(small + "memory,file"), 5);
}

// Its content is read, and no new chunk goes there.
TEST_P(MissingTiers, ATierThatTheConfigurationNamesNoMoreIsStillReadAndIsEmptiedThen) {
  const std::string small = "tier.memory.max_bytes=6MiB;tier.order=";
  for (const std::string left : {"memory", "file"}) {
    SCOPED_TRACE(left);
    first_launch(options(small + "memory,file"), 4);
    launch(options(small + left), no_store(), [](perdure_t* handle, State& state) {
      for (const std::int64_t version : {1, 2, 3, 4})
        if (const int code = restores(handle, state, version, static_cast<std::uint64_t>(version)); code != 0)
          return code;
      return 0;
    });
    const auto outcome = run_ranks(one_rank(), [&](const Rank& rank) {
      perdure_t* handle = rank.open(options(small + left));
      State state(rank.rank, kMissingWords);
      state.protect(handle);
      if (const int code = restores(handle, state, PERDURE_LATEST, 4); code != 0) return code;
      if (const int code = checkpoints(handle, state, 5, 5); code != 0) return code;
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 5, PERDURE_LEVEL_STORE, 30));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
    expect_clean_store(directory_.path() + "/store", "app", {1, 2, 3, 4, 5});
    for (const char* part : {"/node", "/file"}) EXPECT_TRUE(fs::is_empty(directory_.path() + part)) << part;
    fs::remove_all(directory_.path() + "/store");
  }
}

TEST_P(MissingTiers, AnotherTemporaryDirectoryFindsWhatIsInTheFirstOne) {
  std::string without_path = options("tier.order=file");
  const std::string path = "tier.file.path=" + directory_.path() + "/file;";
  without_path.erase(without_path.find(path), path.size());
  const std::string one = directory_.path() + "/one", two = directory_.path() + "/two";
  for (const auto& temporary : {one, two}) fs::create_directory(temporary);
  first_launch(without_path, 3, one);
  expect_restored(without_path, 3, two);
  // The first of the two cannot be reached.
  fs::rename(one, one + ".away");
  launch(
      without_path, no_store(),
      [](perdure_t* handle, State&) {
        REQUIRE_STATUS(PERDURE_INCOMPLETE, handle, perdure_restore(handle, "app", PERDURE_LATEST));
        REQUIRE(all_reports(handle).find("cannot be reached") != std::string::npos);
        return 0;
      },
      two);
  fs::rename(one + ".away", one);
  expect_restored(without_path, 3, two);
  expect_restored(without_path, 3, one);
}

// As when a file system is mounted late: a directory that is made meanwhile is not the one with the content.
TEST_P(MissingTiers, ADirectoryThatIsNotThereForOnceCostsNothing) {
  first_launch(options_of_order("file"));
  const std::string place = directory_.path() + "/file";
  fs::rename(place, place + ".away");
  launch(options_of_order("file"), no_store(), [](perdure_t* handle, State&) {
    REQUIRE_STATUS(PERDURE_INCOMPLETE, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(all_reports(handle).find("cannot be reached") != std::string::npos);
    return 0;
  });
  fs::remove_all(place);
  fs::rename(place + ".away", place);
  expect_restored(options_of_order("file"), 3);
}

TEST_P(MissingTiers, SmallerChunksFindTheLargerOnes) {
  first_launch(options_of_order("file"));
  expect_restored(options("tier.order=file;chunk_bytes=64KiB"), 3);
}

// A tier that was emptied in place is another one: the launch says so, and does not wait for its versions.
TEST_P(MissingTiers, WhatIsCertainlyGoneIsSaidToBe) {
  first_launch(options());
  for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/node"))
    if (entry.path().filename() == "arena") fs::remove(entry.path());
  launch(options(), no_store(), [](perdure_t* handle, State&) {
    const std::string reports = all_reports(handle);
    REQUIRE(reports.find("is gone, and with it this node's part of app version 1") != std::string::npos);
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    return 0;
  });
}

TEST_P(MissingTiers, WhatCannotBeReachedIsGivenUpWhenTheStoreHasANewerVersion) {
  // One program opens twice: a new start would write on another branch, for which nothing is given up.
  const std::string quick = options("engine.drain_timeout=0.1");
  const Faults faults(directory_.path());
  const auto newer = run_ranks(one_rank(), [&](const Rank& rank) {
    faults.install();
    faults.set(no_segment_of({1, 2, 3}));
    perdure_t* handle = rank.open(quick);
    State state(rank.rank, kMissingWords);
    state.protect(handle);
    if (const int code = checkpoints(handle, state, 1, 3); code != 0) return code;
    (void)perdure_close(&handle);
    kill_engines(directory_.path());
    faults.set(arena_once());
    handle = rank.open(quick);
    state.protect(handle);
    if (const int code = checkpoints(handle, state, 4, 4); code != 0) return code;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 4, PERDURE_LEVEL_STORE, 30));
    std::string reports;
    REQUIRE(eventually("a report says that version 3 is given up", [&] {
      reports += all_reports(handle);
      return reports.find("app version 3: a part of it") != std::string::npos;
    }));
    REQUIRE(reports.find("because the store has a newer version") != std::string::npos);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(newer.all(0)) << newer.text();
  stop_daemons(directory_.path());
  expect_clean_store(directory_.path() + "/store", "app", {4});
  const auto last = run_ranks(one_rank(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(quick);
    State state(rank.rank, kMissingWords);
    state.protect(handle);
    if (const int code = restores(handle, state, PERDURE_LATEST, 4); code != 0) return code;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(last.all(0)) << last.text();
  stop_daemons(directory_.path());
  EXPECT_TRUE(fs::is_empty(directory_.path() + "/node")) << "the tier that is back has nothing that anybody needs";
}

// A tier of one node in a group is missing: its content is rebuilt, and the redundancy on it is found again later.
class MissingTierOfFour : public NodeLoss {
 protected:
  RunOptions without_a_tier(int rank_without) const {
    RunOptions run = without_store();
    run.in_child = [before = run.in_child, rank_without](int rank) {
      before(rank);
      const std::string faults = std::string(::getenv("PERDURE_TEST_FAULTS")) + ";open:/arena:EMFILE:1:1";
      if (rank == rank_without) ::setenv("PERDURE_TEST_FAULTS", faults.c_str(), 1);
    };
    return run;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, MissingTierOfFour,
                         ::testing::Values(Loss{"embedded", "embedded", "xor", 4, 1, {}, true, ""},
                                           Loss{"daemon", "daemon", "xor", 4, 1, {}, true, ""}),
                         [](const auto& param) { return param.param.name; });

TEST_P(MissingTierOfFour, RedundancyStandsInForItAndItCountsAgainWhenItIsBack) {
  live_and_die(2);
  expect_done(without_a_tier(1), "", [](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    return 0;
  });
  // Now node 2 is really lost, so the redundancy on node 1's returned tier is needed.
  ASSERT_NO_FATAL_FAILURE(lose({2}));
  expect_done(without_store(), "", [](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    return 0;
  });
}

}  // namespace
