#pragma once
// Runs jobs on simulated nodes that are lost with everything: processes, engine, tiers.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "config/config.hpp"
#include "damage.hpp"
#include "engine/host/node_directory.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::test_support {

inline constexpr std::size_t kLossWords = 24000;  // two chunks

struct Loss {
  std::string name, mode, scheme;
  int nodes = 4, per_node = 1;
  std::set<int> lost;
  bool survives = true;
  std::string more;
};
inline void PrintTo(const Loss& loss, std::ostream* out) { *out << loss.name; }

class NodeLoss : public ::testing::TestWithParam<Loss> {
 protected:
  const Loss& loss() const { return GetParam(); }
  int ranks() const { return loss().nodes * loss().per_node; }
  std::string options(const std::string& more = "") const {
    return options_in(directory_.path(), loss().mode,
                      "engine.idle_exit=60;node.ranks_per_node=" + std::to_string(loss().per_node) +
                          ";redundancy.scheme=" + loss().scheme + loss().more + more);
  }
  RunOptions with_store() const {
    RunOptions run;
    run.ranks = ranks();
    run.kill_all_when_one_dies = false;
    return run;
  }
  /// The store accepts nothing, so restored data comes from the nodes.
  RunOptions without_store() const { return with_full("/store"); }
  /// No file below this part of the directory can be written.
  RunOptions with_full(const std::string& part) const {
    RunOptions run = with_store();
    run.in_child = [full = "pwrite:" + directory_.path() + part + ":ENOSPC"](int) {
      ::setenv("PERDURE_TEST_FAULTS", full.c_str(), 1);
    };
    return run;
  }

  using Part = std::function<int(const Rank&, perdure_t*, State&)>;
  Outcome outcome_of(const RunOptions& run, const std::string& more, const Part& part) const {
    auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options(more));
      State state(rank.rank, kLossWords);
      state.protect(handle);
      const int code = part(rank, handle, state);
      if (code == 0) rank.barrier();
      return code;
    });
    kill_engines(directory_.path());
    return outcome;
  }
  /// Every rank opens a handle and runs its part, which must return 0. Then all end without closing, and so do their
  /// engines.
  void expect_done(const RunOptions& run, const std::string& more, const Part& part) const {
    const auto outcome = outcome_of(run, more, part);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  /// For a rank's part: advances the state to this step and brings it to level node. If the checkpoint's call copies in
  /// the background, the state is overwritten meanwhile.
  static int checkpoint_to_node(perdure_t* handle, State& state, std::uint64_t step) {
    state.advance(step);
    const auto version = static_cast<std::int64_t>(step);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 30));
    return 0;
  }
  /// Makes checkpoints up to `last`, each at level node; then everything dies.
  void live_and_die(int last) const {
    const auto outcome = outcome_of(without_store(), "", [&](const Rank& rank, perdure_t* handle, State& state) {
      for (int version = 1; version <= last; ++version) {
        REQUIRE(checkpoint_to_node(handle, state, static_cast<std::uint64_t>(version)) == 0);
        perdure_level level{};
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", version, &level));
        REQUIRE(level == PERDURE_LEVEL_NODE);
      }
      rank.barrier();
      ::raise(SIGKILL);
      return 0;
    });
    ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  }
  /// Loses nodes with all their data: engine directory and tiers.
  void lose(const std::set<int>& nodes) const {
    config::Config config;
    ASSERT_TRUE(config.set_all(options(), config::Origin::program));
    for (const int node : nodes) {
      const std::string key = engine::node_key(config, os::host_name() + "#" + std::to_string(node));
      std::size_t removed = 0;
      for (const char* part : {"/node", "/file"})
        for (const auto& entry : fs::directory_iterator(directory_.path() + part))
          if (entry.path().filename().string().starts_with(key)) removed += fs::remove_all(entry.path());
      ASSERT_GT(removed, 0U) << "node " << node << " had nothing";
    }
  }
  /// Runs a new launch that must restore this step from the nodes; 0: only parts remain, and it is no first start. Some
  /// rank's reports must contain the text.
  void expect_restored(std::uint64_t step, const std::string& more = "", const std::string& report = "") const {
    SharedMemory<std::atomic<int>> reported;
    expect_done(without_store(), more, [&](const Rank& rank, perdure_t* handle, State& state) {
      const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
      REQUIRE_STATUS(step == 0 ? PERDURE_INCOMPLETE : PERDURE_OK, handle, status);
      REQUIRE(state.step == step && state.right());
      if (all_reports(handle).find(report) != std::string::npos) ++*reported;
      rank.barrier();
      if (step == 0) return 0;
      // Level node holds again for it, and for the next versions.
      const auto version = static_cast<std::int64_t>(step);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 30));
      return checkpoint_to_node(handle, state, step + 10);
    });
    EXPECT_GT(reported->load(), 0) << "nobody said: " << report;
  }
  void SetUp() override {
    if (lacks_protection(loss().mode)) GTEST_SKIP() << kNoProtection;
  }
  void TearDown() override {
    if (HasFailure()) tell_logs();
    stop_daemons(directory_.path());
  }
  /// Prints the engines' logs with times, because the directory is removed with the test.
  void tell_logs() const {
    std::error_code none;  // an engine may not have written one yet
    for (const auto& node : fs::directory_iterator(directory_.path() + "/node", none))
      for (const char* name : {"engine.log", "engine.errors"}) {
        const auto log = read_bytes(node.path() / name);
        const std::string text(log.begin(), log.end());
        if (!text.empty()) std::fprintf(stderr, "%s/%s:\n%s\n", node.path().filename().c_str(), name, text.c_str());
      }
  }
  TemporaryDirectory directory_;
};

}  // namespace perdure::test_support
