// Tests recoveries that fail: a node that cannot recover, or an exporter that dies or hangs during it. The version is
// then read from the store if it is complete there, and no retry goes on for ever. (docs/adr/0020)
#include <gtest/gtest.h>

#include "node_loss.hpp"
#include "support/eventually.hpp"

namespace {

using namespace perdure::test_support;

class FailingRecoveries : public NodeLoss {
 protected:
  /// Every rank then runs on another node, so its piece has to be fetched.
  static constexpr const char* kElsewhere = ";node.numbers=1,0,3,2";

  /// Makes versions 1 and 2 in the store and on the nodes; then everything dies.
  void store_and_die() const {
    const auto outcome = outcome_of(with_store(), "", [&](const Rank& rank, perdure_t* handle, State& state) {
      for (std::uint64_t version = 1; version <= 2; ++version) {
        REQUIRE(checkpoint_to_node(handle, state, version) == 0);
        REQUIRE_STATUS(PERDURE_OK, handle,
                       perdure_wait(handle, "app", static_cast<std::int64_t>(version), PERDURE_LEVEL_STORE, 30));
      }
      rank.barrier();
      ::raise(SIGKILL);
      return 0;
    });
    ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  }
  std::string marker() const { return directory_.path() + "/reached"; }
  /// The engine of the node where this rank first runs dies, or stops, when it exports.
  RunOptions with_engine_of(int rank, RunOptions run, bool stops) const {
    run.in_child = [rank, stops, marker = marker(), before = run.in_child](int child) {
      if (before) before(child);
      if (child != rank) return;
      ::setenv("PERDURE_TEST_CRASH", "export_answered", 1);
      ::setenv("PERDURE_TEST_CRASH_MARKER", marker.c_str(), 1);
      if (stops) ::setenv("PERDURE_TEST_CRASH_STOPS", "1", 1);
    };
    return run;
  }
  /// An engine that replaces a dead one must live.
  static void spare_the_next() { ::unsetenv("PERDURE_TEST_CRASH"); }
  bool engines_say(const std::string& text) const {
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/node")) {
      if (entry.path().filename() != "engine.log") continue;
      const auto bytes = read_bytes(entry.path());
      if (std::string(bytes.begin(), bytes.end()).find(text) != std::string::npos) return true;
    }
    return false;
  }
};

class FailedRecovery : public FailingRecoveries {};
INSTANTIATE_TEST_SUITE_P(Modes, FailedRecovery,
                         ::testing::Values(Loss{"embedded", "embedded", "xor", 4, 1, {}, true, ""},
                                           Loss{"daemon", "daemon", "xor", 4, 1, {}, true, ""}),
                         [](const auto& param) { return param.param.name; });

// Restores the newest version and one by its number, and asks for their sizes.
TEST_P(FailedRecovery, IsReadFromTheStoreThatHasTheVersion) {
  for (const std::int64_t version : {std::int64_t{PERDURE_LATEST}, std::int64_t{2}}) {
    SCOPED_TRACE(version);
    store_and_die();
    RunOptions run = with_store();
    run.in_child = [](int) { ::setenv("PERDURE_TEST_FAULTS", "thread:recovery:EAGAIN", 1); };
    SharedMemory<std::atomic<int>> said;
    expect_done(run, kElsewhere, [&](const Rank& rank, perdure_t* handle, State& state) {
      perdure_region_size size{};
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", version, 1, &size));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", version));
      REQUIRE(state.step == 2 && state.right());
      perdure_progress progress;
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
      REQUIRE(progress.restored_version == 2 && progress.restore_source == 2);
      if (all_reports(handle).find("it is read from the store") != std::string::npos) ++*said;
      rank.barrier();
      return 0;
    });
    EXPECT_GT(said->load(), 0);
    TearDown();
    for (const char* part : {"/node", "/file", "/store"}) fs::remove_all(directory_.path() + part);
  }
}

// If the store has no version, each version is tried a few times and not for ever; the call says why.
TEST_P(FailedRecovery, EndsWithItsReasonWhereTheStoreHasNothing) {
  live_and_die(2);
  RunOptions run = without_store();
  run.in_child = [before = run.in_child](int rank) {
    before(rank);
    const std::string rules = std::string(::getenv("PERDURE_TEST_FAULTS")) + ";thread:recovery:EAGAIN";
    ::setenv("PERDURE_TEST_FAULTS", rules.c_str(), 1);
  };
  expect_done(run, kElsewhere, [](const Rank&, perdure_t* handle, State& state) {
    const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
    REQUIRE(status == PERDURE_NO_SPACE || status == PERDURE_PEER_FAILED);
    REQUIRE(state.step == 0 && state.right());
    return 0;
  });
  expect_restored(2, kElsewhere, " moved");  // the failure gave up nothing
}

// A survivor's chunk is corrupt: the rebuild detects it, and reports it to the survivor.
TEST_P(FailedRecovery, ABadBlockThatItMeetsIsRecordedWhereItIs) {
  live_and_die(2);
  ASSERT_EQ(damage_slots(directory_.path(), 2, 2), 1U);
  lose({1});
  expect_done(without_store(), "", [&](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    const char* recorded = "another node found that it does not match its hash, and so did this one";
    REQUIRE(eventually("an engine says what it found", [&] { return engines_say(recorded); }));
    rank.barrier();
    return 0;
  });
}

class ExportersInDaemons : public FailingRecoveries {};
INSTANTIATE_TEST_SUITE_P(Modes, ExportersInDaemons,
                         ::testing::Values(Loss{"daemon", "daemon", "xor", 4, 1, {}, true, ""}),
                         [](const auto& param) { return param.param.name; });

TEST_P(ExportersInDaemons, ThatDieInTheMiddleAreReplacedAndTheLostNodeComesBack) {
  live_and_die(2);
  lose({1});
  expect_done(with_engine_of(2, without_store(), false), "", [](const Rank& rank, perdure_t* handle, State& state) {
    spare_the_next();
    rank.barrier();
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_NODE, 30));
    return checkpoint_to_node(handle, state, 3);
  });
  EXPECT_TRUE(fs::exists(marker())) << "no exporter died";
}

// It counts as lost after three times ten seconds, and its piece is rebuilt. Its own rank waits for it, and all ranks
// go on once it does.
TEST_P(ExportersInDaemons, ThatHangCountAsLostAndTheOthersHaveEnough) {
  store_and_die();
  RunOptions run = with_engine_of(3, with_store(), true);
  run.timeout_s = 200;
  run.meanwhile = [this](const std::vector<int>&) {
    EXPECT_TRUE(eventually("the others count it as lost", [&] { return engines_say("does not say what it has"); }));
    for (const int pid : engine_pids(directory_.path())) ::kill(pid, SIGCONT);
  };
  expect_done(run, kElsewhere, [&](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 2 && state.right());
    perdure_progress progress;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_get_progress(handle, &progress));
    REQUIRE(progress.restored_version == 2);
    rank.barrier();
    return 0;
  });
  EXPECT_TRUE(fs::exists(marker())) << "no exporter stopped";
}

}  // namespace
