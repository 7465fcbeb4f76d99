// Tests wall clocks that jump back and forth, between checkpoints and between the lives of a program. The later capture
// must still be the newer version, on every node, in the tiers and in the store. Also tests jobs that are suspended for
// hours.
#include <gtest/gtest.h>

#include "damage.hpp"
#include "faults.hpp"
#include "os/hooks.hpp"
#include "os/system.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::size_t kStateWords = 24000;  // two chunks

class ClockJumps : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const {
    return options_in(directory_.path(), GetParam(), "node.ranks_per_node=2" + more);
  }
  /// Runs a life of four ranks on two nodes, whose clocks begin with this offset.
  void live(std::int64_t begin_ns, const std::function<int(const Rank&)>& body) {
    const auto outcome = run_ranks({}, [&](const Rank& rank) {
      os::shift_wall_clock(begin_ns);
      return body(rank);
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
  }
  std::string store() const { return directory_.path() + "/store"; }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, ClockJumps, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

// Continues from the stored state.
int take_and_store(const Rank& rank, const std::string& options, std::uint64_t first, std::uint64_t last) {
  perdure_t* handle = rank.open(options);
  State state(rank.rank, kStateWords);
  state.protect(handle);
  (void)perdure_restore(handle, "app", PERDURE_LATEST);  // the first life finds nothing
  for (std::uint64_t step = first; step <= last; ++step) {
    const auto version = static_cast<std::int64_t>(step);
    state.advance(step);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 30));
    os::shift_wall_clock(step % 3 == 0 ? 2 * kHourNs : -3 * kHourNs);
  }
  state.advance(0);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
  REQUIRE(state.step == last && state.right());
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

TEST_P(ClockJumps, RetentionKeepsWhatWasTakenLast) {
  live(0, [&](const Rank& rank) { return take_and_store(rank, options(), 1, 5); });
  expect_clean_store(store(), "app", {4, 5});
}

TEST_P(ClockJumps, SoDoesTheNextLifeOnAMachineWhoseClockIsBehind) {
  live(kHourNs, [&](const Rank& rank) { return take_and_store(rank, options(), 1, 3); });
  live(-50 * kHourNs, [&](const Rank& rank) { return take_and_store(rank, options(), 4, 6); });
  expect_clean_store(store(), "app", {5, 6});
}

// Continues from the stored state, writes version 2 with this content, and returns whether it comes back.
int replace_with(const Rank& rank, const std::string& options, std::uint64_t step) {
  perdure_t* handle = rank.open(options);
  State state(rank.rank, kStateWords);
  state.protect(handle);
  (void)perdure_restore(handle, "app", PERDURE_LATEST);  // the first life finds nothing
  state.advance(step);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
  state.advance(0);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 2));
  REQUIRE(state.step == step && state.right());
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

// The second life knows the first one's version from its tiers, the third life only from the store.
TEST_P(ClockJumps, AVersionThatIsWrittenAgainHoldsTheLaterContent) {
  const std::string replacing = options(";checkpoint.replace=true");
  live(0, [&](const Rank& rank) { return replace_with(rank, replacing, 10); });
  live(-kHourNs, [&](const Rank& rank) { return replace_with(rank, replacing, 11); });
  for (const char* node : {"/node", "/file"}) fs::remove_all(directory_.path() + node);
  live(-2 * kHourNs, [&](const Rank& rank) { return replace_with(rank, replacing, 12); });
  expect_clean_store(store(), "app", {2});
  live(-3 * kHourNs, [&](const Rank& rank) {
    perdure_t* handle = rank.open(replacing);
    State state(rank.rank, kStateWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 12 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

// While the store fails, superseded versions make room: the earlier captures go first, whatever the clock said.
TEST_P(ClockJumps, TheNewestSurvivesAStoreThatFails) {
  const Faults faults(directory_.path());
  RunOptions one;
  one.ranks = 1;
  const auto outcome = run_ranks(one, [&](const Rank& rank) {
    faults.install();
    Protected app(rank, options(";tier.memory.max_bytes=6MiB;tier.file.max_bytes=1MiB"), kStateWords);
    faults.set("pwrite:/store:EIO");
    for (int step = 1; step <= 10; ++step) {
      os::shift_wall_clock(-kHourNs);
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      RANK_CHECK(app.restores(PERDURE_LATEST, static_cast<std::uint64_t>(step)), app.error());
    }
    faults.set("");
    RANK_CHECK(app.wait(10) == PERDURE_OK && app.wait(9) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  expect_clean_store(store(), "app", {9, 10});
}

// Lets hours pass after every few writes to the store.
class Suspensions : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const bool counts =
        std::string_view(operation.call) == "pwrite" && operation.path.find("/store/") != operation.path.npos;
    if (counts && ++writes_ % 7 == 0) os::shift_monotonic_clock(3 * kHourNs);
    return 0;
  }

 private:
  std::atomic<unsigned> writes_ = 0;
};

TEST(SuspendedJob, GoesOnWithItsCheckpointsWhereverItWas) {
  TemporaryDirectory directory;
  Program program{options_in(directory.path(), "embedded", "tier.order=memory;tier.memory.max_bytes=4MiB")};
  program.words = 70000;  // five chunks of each rank; there is room for two
  program.restore_at_end = true;
  Suspensions suspensions;
  const auto outcome = run_ranks({}, [&](const Rank& rank) {
    const InstalledHooks installed(suspensions);
    return program.run(rank);
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  expect_clean_store(directory.path() + "/store", "app", {4, 5});
}

/// Lets hours pass during each write to the store, which then fails, until the test lets it work.
class SuspendedWrites : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const bool counts =
        std::string_view(operation.call) == "pwrite" && operation.path.find("/store/") != operation.path.npos;
    if (!counts || works_) return 0;
    os::shift_monotonic_clock(3 * kHourNs);
    return EIO;
  }
  void work() { works_ = true; }

 private:
  std::atomic<bool> works_ = false;
};

// By the clock, the store has failed for longer than the engine retries.
TEST(SuspendedJob, GivesUpAFlushWithoutLosingIt) {
  TemporaryDirectory directory;
  RunOptions one;
  one.ranks = 1;
  const auto outcome = run_ranks(one, [&](const Rank& rank) {
    SuspendedWrites writes;
    const InstalledHooks installed(writes);
    Protected app(rank, options_in(directory.path(), "embedded"), kStateWords);
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK, app.error());
    RANK_CHECK(count_containing(app.reports("was given up"), "was given up") == 1, "no report");
    RANK_CHECK(app.restores(PERDURE_LATEST, 1), app.error());
    writes.work();
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK, app.error());
    for (int step : {1, 2}) RANK_CHECK(app.wait(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  expect_clean_store(directory.path() + "/store", "app", {1, 2});
}

}  // namespace
