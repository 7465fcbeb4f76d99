// Tests several handles at once, and several threads on one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "damage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class Handles : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, Handles, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Handles, TwoOfTheSameStoreInOneProcessDoNotDisturbEachOther) {
  RunOptions run;
  run.ranks = 2;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t *first = rank.open(options()), *second = rank.open(options());
    State a(rank.rank, 3000), b(rank.rank + 10, 20000);
    a.protect(first);
    b.protect(second);  // the same ids: each handle has its own regions
    for (std::uint64_t version : {1U, 2U}) {
      a.advance(version);
      b.advance(version);
      REQUIRE_STATUS(PERDURE_OK, first, perdure_checkpoint(first, "a", static_cast<std::int64_t>(version)));
      REQUIRE_STATUS(PERDURE_OK, second, perdure_checkpoint(second, "b", static_cast<std::int64_t>(version)));
    }
    REQUIRE_STATUS(PERDURE_OK, first, perdure_close(&first));
    b.advance(3);
    REQUIRE_STATUS(PERDURE_OK, second, perdure_checkpoint(second, "b", 3));
    b.advance(0);
    REQUIRE_STATUS(PERDURE_OK, second, perdure_restore(second, "b", PERDURE_LATEST));
    REQUIRE(b.step == 3 && b.right());
    // A new handle beside it sees the versions of the closed one.
    first = rank.open(options());
    a.protect(first);
    a.advance(0);
    REQUIRE_STATUS(PERDURE_OK, first, perdure_restore(first, "a", PERDURE_LATEST));
    REQUIRE(a.step == 2 && a.right());
    REQUIRE_STATUS(PERDURE_OK, second, perdure_close(&second));
    REQUIRE_STATUS(PERDURE_OK, first, perdure_wait(first, "b", 3, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_OK, first, perdure_close(&first));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Handles, OfTwoStoresKeepTheirVersionsApart) {
  TemporaryDirectory other;
  const std::string there = options_in(other.path(), GetParam());
  RunOptions run;
  run.ranks = 2;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t *first = rank.open(options()), *second = rank.open(there);
    State state(rank.rank, 3000);
    state.protect(first);
    state.protect(second);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, first, perdure_checkpoint(first, "app", 1));
    std::int64_t latest = -1;
    REQUIRE_STATUS(PERDURE_NOT_FOUND, second, perdure_latest(second, "app", &latest));
    state.advance(2);
    REQUIRE_STATUS(PERDURE_OK, second, perdure_checkpoint(second, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, second, perdure_close(&second));
    REQUIRE_STATUS(PERDURE_OK, first, perdure_restore(first, "app", 1));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, first, perdure_close(&first));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  for (const auto* directory : {&directory_, &other}) {
    stop_daemons(directory->path());
    expect_clean_store(directory->path() + "/store", "app", {1});
  }
}

// Two communicators on one node share an engine. The checkpoints of one group hold, whatever the other group does and
// whenever it opens and closes. (With an embedded engine, the other group's end is the engine's end: a retryable error
// that this test does not cover.)
class DaemonHandles : public Handles {};
INSTANTIATE_TEST_SUITE_P(Modes, DaemonHandles, ::testing::Values("daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DaemonHandles, OfTwoCommunicatorsDoNotSettleEachOthersCheckpoints) {
  SharedMemory<std::atomic<int>> busy;
  *busy = 1;
  RunOptions two;
  two.ranks = 2;
  two.meanwhile = [&](const std::vector<int>&) {
    const auto restless = run_ranks(
        [] {
          RunOptions run;
          run.ranks = 2;
          return run;
        }(),
        [&](const Rank& rank) {
          for (int round = 0; round < 1000; ++round) {
            perdure_t* handle = rank.open(options());
            State state(rank.rank + 100, 500);
            state.protect(handle);
            perdure_close(&handle);
            rank.barrier();
            if (rank.rank == 0 && *busy == 0) *busy = -1;  // one rank decides for both
            rank.barrier();
            if (*busy == -1) break;
          }
          return 0;
        });
    EXPECT_TRUE(restless.all(0)) << restless.text();
  };
  const auto outcome = run_ranks(two, [&](const Rank& rank) {
    struct Over {
      std::atomic<int>& flag;
      ~Over() {
        int expected = 1;
        flag.compare_exchange_strong(expected, 0);
      }
    } over{*busy};
    perdure_t* handle = rank.open(options());
    State state(rank.rank, 60000);
    state.protect(handle);
    for (std::uint64_t version = 1; version <= 40; ++version) {
      state.advance(version);
      const perdure_status status = perdure_checkpoint(handle, "steady", static_cast<std::int64_t>(version));
      // An embedded engine of the other group may end with it; the call then fails with a retryable error.
      if (status != PERDURE_OK) REQUIRE(perdure_error_retryable(handle) == 1 && std::string(GetParam()) == "embedded");
    }
    state.advance(41);
    perdure_status last = perdure_checkpoint(handle, "steady", 41);
    for (int tries = 0; last != PERDURE_OK && tries < 50; ++tries) last = perdure_checkpoint(handle, "steady", 41);
    REQUIRE_STATUS(PERDURE_OK, handle, last);
    perdure_status restored = perdure_restore(handle, "steady", PERDURE_LATEST);
    for (int tries = 0; restored != PERDURE_OK && tries < 50; ++tries)
      restored = perdure_restore(handle, "steady", PERDURE_LATEST);
    REQUIRE_STATUS(PERDURE_OK, handle, restored);
    REQUIRE(state.step == 41 && state.right());
    perdure_close(&handle);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(Handles, ServeSeveralThreadsWhileCheckpointsRun) {
  RunOptions run;
  run.ranks = 2;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(rank.rank, 30000);
    state.protect(handle);
    std::atomic<bool> over = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        while (!over) {
          perdure_progress progress;
          perdure_level level;
          char text[200];
          if (perdure_get_progress(handle, &progress) != PERDURE_OK) ++wrong;
          const perdure_status known = perdure_level_reached(handle, "app", 1, &level);
          if (known != PERDURE_OK && known != PERDURE_NOT_FOUND) ++wrong;
          (void)perdure_next_report(handle, text, sizeof text);
        }
      });
    int failed = 0;
    for (std::uint64_t version = 1; version <= 15 && failed == 0; ++version) {
      state.advance(version);
      if (perdure_checkpoint(handle, "app", static_cast<std::int64_t>(version)) != PERDURE_OK) ++failed;
    }
    state.advance(0);
    if (perdure_restore(handle, "app", PERDURE_LATEST) != PERDURE_OK || state.step != 15 || !state.right()) ++failed;
    over = true;
    for (auto& thread : threads) thread.join();
    REQUIRE(failed == 0);
    REQUIRE(wrong == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

// A thread that still asks while another closes gets its answer or PERDURE_CLOSED.
TEST_P(Handles, MayBeClosedWhileOtherThreadsStillAsk) {
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    perdure_t* const copy = handle;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        perdure_status status = PERDURE_OK;
        while (status == PERDURE_OK) {
          perdure_progress progress;
          status = perdure_get_progress(copy, &progress);
        }
        if (status != PERDURE_CLOSED) ++wrong;
      });
    const perdure_status closed = perdure_close(&handle);
    for (auto& thread : threads) thread.join();
    REQUIRE(closed == PERDURE_OK);
    REQUIRE(wrong == 0);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

}  // namespace
