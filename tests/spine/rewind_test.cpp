// Tests a program that goes back to an older version and continues on a new branch. Later versions of the branch that
// it left neither come back nor conflict, and are kept. The same holds for the earlier run of a program that restores
// nothing.
#include <gtest/gtest.h>

#include "damage.hpp"
#include "faults.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Rewind : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more) const {
    return options_in(directory_.path(), GetParam(), "node.ranks_per_node=1;" + more);
  }
  std::string store() const { return directory_.path() + "/store"; }
  void launch(const std::string& more, int end, const std::function<int(Protected&)>& body) {
    RunOptions run;
    run.ranks = 2;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      Protected app(rank, options(more));
      const int failed = body(app);
      if (failed != 0) return failed;
      rank.barrier();
      if (end == 128 + SIGKILL) ::raise(SIGKILL);
      RANK_CHECK(app.close() == PERDURE_OK, "close");
      return 0;
    });
    EXPECT_TRUE(outcome.all(end)) << outcome.text();
  }
  /// Makes versions 1 to 10 of the first branch, all in the store.
  void first_branch(const std::string& more) {
    launch(more, 0, [](Protected& app) {
      for (int step = 1; step <= 10; ++step) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      RANK_CHECK(app.wait(10) == PERDURE_OK, app.error());
      return 0;
    });
  }
  /// Rank 0 knows which versions exist; the other ranks are told that a rank failed.
  static bool exists(Protected& app, std::int64_t version) {
    const perdure_status status = app.checkpoint(version);
    return status == PERDURE_EXISTS ||
           (status == PERDURE_PEER_FAILED && app.error().find("exists") != std::string::npos);
  }
  static int latest_is(Protected& app, std::int64_t wanted) {
    std::int64_t latest = -1;
    RANK_CHECK(perdure_latest(app.handle(), "app", &latest) == PERDURE_OK, app.error());
    RANK_CHECK(latest == wanted, std::to_string(latest));
    return 0;
  }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, Rewind, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Rewind, BeginsABranchWhoseVersionsAreTheLatestAndTakeTheirNumbers) {
  const std::string many = "retention.keep_last=20";
  first_branch(many);
  launch(many, 128 + SIGKILL, [](Protected& app) {
    RANK_CHECK(app.restores(5, 5), app.error());
    if (const int failed = latest_is(app, 10)) return failed;  // nothing was written yet
    RANK_CHECK(app.checkpoint(6) == PERDURE_OK, app.error());
    RANK_CHECK(app.wait(6) == PERDURE_OK, app.error());
    RANK_CHECK(exists(app, 6), "its own is not written twice");
    RANK_CHECK(exists(app, 5), "what it went back to stays");
    return latest_is(app, 6);
  });
  kill_engines(directory_.path());
  launch(many, 0, [](Protected& app) {
    RANK_CHECK(app.restores(PERDURE_LATEST, 6), app.error());
    RANK_CHECK(exists(app, 5), "it is of this branch");
    for (int step : {7, 8}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK && app.wait(step) == PERDURE_OK, app.error());
    return latest_is(app, 8);
  });
  stop_daemons(directory_.path());
}

TEST_P(Rewind, KeepsTheNewestOfBothBranchesUnderRetention) {
  first_branch("retention.keep_last=6");
  launch("retention.keep_last=2", 0, [](Protected& app) {
    RANK_CHECK(app.restores(5, 5), app.error());
    for (int step : {6, 7, 8})
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK && app.wait(step) == PERDURE_OK, app.error());
    return 0;
  });
  stop_daemons(directory_.path());
  expect_clean_store(store(), "app", {7, 8, 9, 10});  // 9 and 10 of the branch that was left
}

// A finished run has versions 1 to 10. A program that never restores writes 1, 2 and 3 and is killed.
TEST_P(Rewind, KeepsTheRunBeforeANewStartThatIsKilled) {
  first_branch("retention.keep_last=2");
  launch("retention.keep_last=2", 128 + SIGKILL, [](Protected& app) {
    for (int step : {1, 2, 3})
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK && app.wait(step) == PERDURE_OK, app.error());
    return 0;
  });
  kill_engines(directory_.path());
  launch("retention.keep_last=2", 0, [](Protected& app) {
    perdure_restored_info info{};
    RANK_CHECK(perdure_restored(app.handle(), &info) == PERDURE_NOT_FOUND, app.error());
    RANK_CHECK(app.restores(PERDURE_LATEST, 3), app.error());
    RANK_CHECK(perdure_restored(app.handle(), &info) == PERDURE_OK, app.error());
    RANK_CHECK(info.version == 3 && info.passed_over == 0 && std::string(info.name) == "app", info.name);
    RANK_CHECK(std::string(info.branch).size() == 6 && info.created_ns > 0 && info.age_s >= 0, info.branch);
    perdure_passed_over_info none{};
    RANK_CHECK(perdure_passed_over(app.handle(), 0, &none) == PERDURE_NOT_FOUND, app.error());
    RANK_CHECK(perdure_restore_branch(app.handle(), "app", "none", 3) == PERDURE_INVALID_ARGUMENT, app.error());
    RANK_CHECK(app.checkpoint(4) == PERDURE_OK && app.wait(4) == PERDURE_OK, app.error());
    return 0;
  });
  stop_daemons(directory_.path());
  expect_clean_store(store(), "app", {3, 4, 9, 10});
}

}  // namespace
