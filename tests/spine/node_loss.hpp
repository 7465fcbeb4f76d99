#pragma once
// Jobs on simulated nodes, which are lost with all they had: processes, engine, tiers.
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
  /// What comes back then is from the nodes.
  RunOptions without_store() const { return with_full("/store"); }
  /// Nothing can be written below this part of the directory.
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
  /// Every rank opens a handle and does its part, which returns 0. Then all of them end, closing nothing, and their
  /// engines with them.
  void expect_done(const RunOptions& run, const std::string& more, const Part& part) const {
    const auto outcome = outcome_of(run, more, part);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  /// For the part of a rank: the state advances to this step, which is brought to level node. Where the checkpoint's
  /// call leaves the copying to be done, the state is written anew meanwhile.
  static int checkpoint_to_node(perdure_t* handle, State& state, std::uint64_t step) {
    state.advance(step);
    const auto version = static_cast<std::int64_t>(step);
    REQUIRE_STATUS(PERDURE_OK, handle, state.capture(handle, version));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 30));
    return 0;
  }
  /// Checkpoints up to `last`, each at level node, then the death of everything.
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
  /// With all they had: engine directory and tiers.
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
  /// A new launch that must have this step (0: parts only, which is no first start), from what the nodes have; and
  /// somebody's reports say so.
  void expect_restored(std::uint64_t step, const std::string& more = "", const std::string& report = "") const {
    SharedMemory<std::atomic<int>> reported;
    expect_done(without_store(), more, [&](const Rank& rank, perdure_t* handle, State& state) {
      const perdure_status status = perdure_restore(handle, "app", PERDURE_LATEST);
      REQUIRE_STATUS(step == 0 ? PERDURE_INCOMPLETE : PERDURE_OK, handle, status);
      REQUIRE(state.step == step && state.right());
      if (all_reports(handle).find(report) != std::string::npos) ++*reported;
      rank.barrier();
      if (step == 0) return 0;
      // Level node is there again for it, and for what comes next.
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
  /// What the engines said, and when: the directory goes with the test.
  void tell_logs() const {
    std::error_code none;  // an engine may not have got as far as that
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
