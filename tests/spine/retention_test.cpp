// Tests retention end to end: which versions stay, which go, which never go, and a store that refuses removals.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "damage.hpp"
#include "faults.hpp"
#include "scenario.hpp"
#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;
enum class End { closed, killed };

class Retention : public ::testing::TestWithParam<const char*> {
 protected:
  void checkpoints(int first, int last, const std::string& more, const std::string& rules = {}, End end = End::closed) {
    RunOptions run;
    run.ranks = 2;
    // A program that is to be killed must not end by itself earlier.
    const std::string options = end == End::killed ? more + ";engine.idle_exit=60" : more;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      faults.install();
      Protected app(rank, options_in(directory.path(), GetParam(), options));
      if (rank.rank == 0) faults.set(rules);
      rank.barrier();
      for (int step = first; step <= last; ++step)
        RANK_CHECK(app.checkpoint(step) == PERDURE_OK && app.wait(step) == PERDURE_OK, app.error());
      if (!rules.empty() && rank.rank == 0) {
        const auto told = app.reports("retention of app");
        RANK_CHECK(count_containing(told, "retention of app") == 1, joined(told));
        RANK_CHECK(count_containing(told, "flush of") == 0, joined(told));
      }
      rank.barrier();
      if (rank.rank == 0) faults.set("");
      rank.barrier();
      if (end == End::killed) ::raise(SIGKILL);
      RANK_CHECK(app.close() == PERDURE_OK, "close");
      return 0;
    });
    EXPECT_TRUE(outcome.all(end == End::killed ? 128 + SIGKILL : 0)) << outcome.text();
    if (end == End::killed) kill_engines(directory.path());
    stop_daemons(directory.path());
  }
  std::string store() const { return directory.path() + "/store"; }
  TemporaryDirectory directory;
  Faults faults{directory.path()};
};
INSTANTIATE_TEST_SUITE_P(Modes, Retention, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Retention, KeepsTheNewestAndEveryKth) {
  checkpoints(1, 9, "retention.keep_last=2;retention.keep_every=4");
  expect_clean_store(store(), "app", {4, 8, 9});
}

TEST_P(Retention, CountsVersionsOfAllNodesAsOne) {
  checkpoints(1, 4, "retention.keep_last=1;node.ranks_per_node=1");
  expect_clean_store(store(), "app", {4});
}

TEST_P(Retention, OfTwoJobsInOneStoreKeepsToTheNamesOfEach) {
  checkpoints(1, 4, "job=careful;retention.keep_last=3");
  RunOptions run;
  run.ranks = 2;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options_in(directory.path(), GetParam(), "job=frugal;retention.keep_last=1"));
    State state(rank.rank, 1000);
    state.protect(handle);
    for (int step = 1; step <= 3; ++step) {
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "other", step));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "other", step, PERDURE_LEVEL_STORE, 20));
    }
    REQUIRE(perdure_close(&handle) == PERDURE_OK);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  expect_clean_store(store(), "app", {2, 3, 4});
  expect_clean_store(store(), "other", {3});
}

// The newest version has all its segments, but a damaged manifest, so only older ones are usable. The job was killed,
// so that the next engine knows from its catalog that the job owns the name.
TEST_P(Retention, NeverGivesUpTheLastVersionThatVerifies) {
  checkpoints(1, 3, "retention.keep_last=3", {}, End::killed);
  for (const auto& entry : fs::directory_iterator(store() + "/app/3"))
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 8);
  checkpoints(1, 0, "retention.keep_last=1");
  EXPECT_FALSE(fs::exists(store() + "/app/1"));
  EXPECT_TRUE(fs::exists(store() + "/app/2"));
  auto made = perdure::store::make_store(store());
  ASSERT_TRUE(made);
  auto listings = (*made)->list("app");
  ASSERT_TRUE(listings);
  ASSERT_FALSE(listings->empty());
  EXPECT_EQ(listings->front().id.version, 2u);
  EXPECT_TRUE(perdure::store::read_version(**made, listings->front()));
}

TEST_P(Retention, AStoreThatDoesNotLetGoIsReportedOnceAndCleanedUpLater) {
  for (const char* call : {"rmdir", "readdir"}) {
    SCOPED_TRACE(call);
    const int first = std::string(call) == "rmdir" ? 1 : 11;
    checkpoints(first, first + 4, "retention.keep_last=1", std::string(call) + ":/store:EIO");
    // The second launch restores nothing, so the first one's last version is on a branch that was left.
    expect_clean_store(store(), "app", first == 1 ? std::vector<std::uint64_t>{5} : std::vector<std::uint64_t>{5, 15});
  }
}

}  // namespace
