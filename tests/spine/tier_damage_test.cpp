// Tests damage on a node: flipped bits in slots and in the catalog. Data that fails verification is quarantined with a
// report. All ranks then take the same next source or next older version.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "damage.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::size_t kWords = 24000;  // two chunks

struct Case {
  std::string mode, tier;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.mode << ' ' << c.tier; }

class TierDamage : public ::testing::TestWithParam<Case> {
 protected:
  std::string options(const std::string& more = {}) const {
    return options_in(
        directory_.path(), GetParam().mode,
        "engine.idle_exit=60;node.ranks_per_node=1;tier.order=" + GetParam().tier + (more.empty() ? "" : ";" + more));
  }
  std::string no_store() const { return "pwrite:" + directory_.path() + "/store:ENOSPC"; }
  static RunOptions two_ranks() {
    RunOptions run;
    run.ranks = 2;
    run.kill_all_when_one_dies = false;
    return run;
  }
  // Runs a life that ends after `last` checkpoints with kill -9 of everything, engines included.
  void live_and_die(int last, bool store_works) const {
    const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
      if (!store_works) ::setenv("PERDURE_TEST_FAULTS", no_store().c_str(), 1);
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kWords);
      state.protect(handle);
      for (int version = 1; version <= last; ++version) {
        state.advance(static_cast<std::uint64_t>(version));
        REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, version));
        if (store_works)
          REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 30));
      }
      rank.barrier();
      ::raise(SIGKILL);
      return 0;
    });
    ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
    kill_engines(directory_.path());
  }
  void SetUp() override {
    if (lacks_protection(GetParam().mode)) GTEST_SKIP() << kNoProtection;
  }
  void TearDown() override { stop_daemons(directory_.path()); }
  TemporaryDirectory directory_;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) { return info.param.mode + "_" + info.param.tier; }

INSTANTIATE_TEST_SUITE_P(Both, TierDamage,
                         ::testing::Values(Case{"embedded", "memory"}, Case{"embedded", "file"},
                                           Case{"daemon", "memory"}, Case{"daemon", "file"}),
                         case_name);
// Captures into file tiers are copied in the call.
INSTANTIATE_TEST_SUITE_P(OnWrite, TierDamage,
                         ::testing::Values(Case{"embedded_on_write", "memory"}, Case{"daemon_on_write", "memory"}),
                         case_name);

TEST_P(TierDamage, AFlippedBitBeforeRestoreIsReplacedFromTheStore) {
  live_and_die(3, true);
  ASSERT_EQ(damage_slots(directory_.path(), 1, 3), 1U);
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 3 && state.right());
    perdure_progress progress;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
    REQUIRE(progress.restored_version == 3);
    REQUIRE(progress.restore_source ==
            (rank.rank == 1 ? 3 : 1));  // the good chunk from the tier, the other from the store
    if (rank.rank == 1)
      REQUIRE(all_reports(handle).find("quarantine: app version 3, rank 1, chunk 0") != std::string::npos);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(TierDamage, AFlippedBitInTheOnlyCopyLetsAllRanksTakeTheNextOlderVersion) {
  live_and_die(3, false);
  ASSERT_EQ(damage_slots(directory_.path(), 1, 3), 1U);
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kWords);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    if (rank.rank == 1)
      REQUIRE(all_reports(handle).find("quarantine: app version 3, rank 1, chunk 0") != std::string::npos);
    std::int64_t latest = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == 2);
    // The program goes on, and may reuse the number of the lost version.
    for (int version : {3, 4, 5}) {
      state.advance(static_cast<std::uint64_t>(version));
      REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, version));
    }
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 5, PERDURE_LEVEL_STORE, 30));
    perdure_close(&handle);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  expect_clean_store(directory_.path() + "/store", "app", {4, 5});
  EXPECT_TRUE(fs::is_empty(directory_.path() + "/node")) << "a version that can never be whole is kept for ever";
}

TEST_P(TierDamage, AFlippedBitBeforeFlushNeverReachesTheStore) {
  const std::string rules = directory_.path() + "/rules";
  write_bytes(rules, {});
  const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
    ::setenv("PERDURE_TEST_FAULTS", ("@" + rules).c_str(), 1);
    perdure_t* handle = rank.open(options());
    State state(rank.rank, kWords);
    state.protect(handle);
    state.advance(1);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30));
    const std::string fault = no_store();
    if (rank.rank == 0) write_bytes(rules + ".new", {fault.begin(), fault.end()});
    if (rank.rank == 0) fs::rename(rules + ".new", rules);
    rank.barrier();
    state.advance(2);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, 2));
    if (rank.rank == 1) REQUIRE(damage_slots(directory_.path(), 1, 2) == 1);
    rank.barrier();
    if (rank.rank == 0) fs::remove(rules);
    const perdure_status expected = rank.rank == 1 ? PERDURE_CORRUPT : PERDURE_PEER_FAILED;
    REQUIRE_STATUS(expected, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    if (rank.rank == 1)
      REQUIRE(all_reports(handle).find("quarantine: app version 2, rank 1, chunk 0") != std::string::npos);
    perdure_close(&handle);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  kill_engines(directory_.path());
}

// Whichever record is hit: all ranks can still restore a whole version, or none can; never a crash, never other data.
TEST_P(TierDamage, AFlippedBitInACatalogRecordNeverSplitsTheRanks) {
  for (int tenth : unless_sanitized<std::vector<int>>({1, 4, 7, 9}, {4, 9})) {
    live_and_die(3, false);
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/node"))
      if (entry.path().filename() == "catalog" &&
          !find_state(entry.path().parent_path().parent_path().parent_path(), 0, 3).empty())
        flip_bit(entry.path(), fs::file_size(entry.path()) * static_cast<std::uint64_t>(tenth) / 10);
    const auto outcome = run_ranks(two_ranks(), [&](const Rank& rank) {
      ::setenv("PERDURE_TEST_FAULTS", no_store().c_str(), 1);  // only the nodes have data
      perdure_t* handle = rank.open(options());
      State state(rank.rank, kWords);
      state.protect(handle);
      const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
      // If the record of a tier was hit, nobody knows its content, so this is no first start.
      REQUIRE(status == PERDURE_OK || status == PERDURE_NOT_FOUND || status == PERDURE_INCOMPLETE);
      if (status == PERDURE_OK) REQUIRE(state.right());
      rank.barrier();
      ::_exit(status == PERDURE_OK ? 10 + static_cast<int>(state.step) : 10);
    });
    EXPECT_TRUE(outcome.all(outcome.exit_codes[0]) && outcome.exit_codes[0] >= 10)
        << "flipped at " << tenth << " tenths: " << outcome.text();
    kill_engines(directory_.path());
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
  }
}

}  // namespace
