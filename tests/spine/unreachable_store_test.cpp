// Tests a store that is away for a while, slow, or away until the program has ended.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "faults.hpp"
#include "modes.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;
namespace fs = std::filesystem;

class UnreachableStore : public InAMode {
 protected:
  std::string options(const std::string& more) const {
    return options_in(directory.path(), GetParam(), "retention.keep_last=10;" + more);
  }
  bool embedded() const { return std::string(GetParam()).starts_with("embedded"); }
  void expect_success(int ranks, const std::function<int(const Rank&)>& body) {
    RunOptions run;
    run.ranks = ranks;
    const auto outcome = run_ranks(run, body);
    faults.set("");
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  TemporaryDirectory directory;
  Faults faults{directory.path()};
};
INSTANTIATE_TEST_SUITE_P(Modes, UnreachableStore, ::testing::Values("embedded", "daemon"), mode_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, UnreachableStore, ::testing::Values("embedded_on_write", "daemon_on_write"),
                         mode_name);

TEST_P(UnreachableStore, ThatIsMovedAwayIsNotMadeAnewAndIsFilledWhenItReturns) {
  const std::string store = directory.path() + "/store", away = directory.path() + "/away";
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options(""));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    fs::rename(store, away);
    for (int step : {2, 3, 4}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    const auto told = app.reports("flush of app version 2");
    RANK_CHECK(count_containing(told, store) == 1 && count_containing(told, "bring the store's directory back") == 1,
               joined(told));
    RANK_CHECK(app.wait(4, 0.2) == PERDURE_TIMEOUT, app.error());
    RANK_CHECK(app.restores(3, 3) && app.restores(PERDURE_LATEST, 4), app.error());
    RANK_CHECK(!fs::exists(store), "it was made anew");
    fs::rename(away, store);
    for (int step : {2, 3, 4}) RANK_CHECK(app.wait(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.restores(1, 1), app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(store, "app", {1, 2, 3, 4});
}

// An unmounted file system is no first start, and nothing is written below its mount point.
TEST_P(UnreachableStore, WhoseSurroundingsAreMissingIsNoFirstStart) {
  const std::string mount = directory.path() + "/mount", place = directory.path() + "/store";
  std::string settings = options("");
  settings.replace(settings.find(place), place.size(), mount + "/mine/store");
  fs::create_directory(mount);
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, settings);
    std::int64_t version = 0;
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_UNAVAILABLE, app.error());
    RANK_CHECK(perdure_latest(app.handle(), "app", &version) == PERDURE_UNAVAILABLE, app.error());
    RANK_CHECK(app.checkpoint(1) == PERDURE_UNAVAILABLE, app.error());
    RANK_CHECK(app.error().find("mkdir -p " + mount + "/mine") != std::string::npos, app.error());
    RANK_CHECK(fs::is_empty(mount), "something was made below the mount point");
    fs::create_directory(mount + "/mine");  // as the error text advises
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_NOT_FOUND, app.error());
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK && app.wait(2) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(mount + "/mine/store", "app", {2});
}

TEST_P(UnreachableStore, ThatIsSlowDoesNotHoldUpTheApplication) {
  expect_success(1, [&](const Rank& rank) {
    faults.install();
    Protected app(rank, options(""));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    faults.set("slow:/store:40");
    for (int step : {2, 3, 4}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.progress().versions_pending > 0, "the checkpoints waited for the store");
    const auto told = app.reports();
    RANK_CHECK(told.empty(), joined(told));
    faults.set("");
    RANK_CHECK(app.wait(4) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {1, 2, 3, 4});
}

TEST_P(UnreachableStore, LeavesItsVersionsOnTheNodeForTheNextLaunchToFlush) {
  expect_success(2, [&](const Rank& rank) {
    faults.install();
    faults.set("pwrite:/store:ENOSPC");
    Protected app(rank, options("engine.drain_timeout=0.3"));
    for (int step : {1, 2}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    const perdure_status closed = app.close();
    if (embedded() && rank.rank == 0) RANK_CHECK(closed == PERDURE_UNAVAILABLE, perdure_status_name(closed));
    if (embedded() && rank.rank == 1) RANK_CHECK(closed == PERDURE_PEER_FAILED, perdure_status_name(closed));
    if (!embedded()) RANK_CHECK(closed == PERDURE_OK, perdure_status_name(closed));
    return 0;
  });
  expect_success(2, [&](const Rank& rank) {
    Protected app(rank, options("engine.drain_timeout=0.3"));
    RANK_CHECK(app.restores(PERDURE_LATEST, 2), app.error());
    RANK_CHECK(app.wait(1) == PERDURE_OK && app.wait(2) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {1, 2});
}

TEST_P(UnreachableStore, IsGivenUpAfterTheLimitAndTriedAgainAfterTheNextCheckpoint) {
  expect_success(1, [&](const Rank& rank) {
    faults.install();
    faults.set("fdatasync:/store:EIO");
    Protected app(rank, options("flush.give_up_after=0.05"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK, app.error());
    RANK_CHECK(app.wait(1, PERDURE_FOREVER) == PERDURE_IO, app.error());
    for (int step : {2, 3}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.wait(3, PERDURE_FOREVER) == PERDURE_IO, app.error());
    RANK_CHECK(app.progress().versions_failed > 0, "progress");
    const auto told = app.reports("given up");
    RANK_CHECK(count_containing(told, "flush of") <= 2 && count_containing(told, "Input/output error") == 1,
               joined(told));
    faults.set("");
    RANK_CHECK(app.checkpoint(4) == PERDURE_OK, app.error());
    for (int step : {1, 2, 3, 4}) RANK_CHECK(app.wait(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {1, 2, 3, 4});
}

TEST_P(UnreachableStore, IsNotTakenForAnEmptyOneWhenItCannotBeRead) {
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options(""));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    return app.close() == PERDURE_OK ? 0 : 96;
  });
  stop_daemons(directory.path());
  expect_success(1, [&](const Rank& rank) {
    faults.install();
    Protected app(rank, options(""));
    for (const char* call : {"pread", "open", "readdir"}) {
      faults.set(std::string(call) + ":/store:EIO");
      RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_IO,
                 std::string(call) + ": " + app.error());
    }
    faults.set("");
    RANK_CHECK(app.restores(PERDURE_LATEST, 1), app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
}

}  // namespace
