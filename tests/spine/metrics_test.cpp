// Tests the output of `perdure metrics` for a known running job, as Prometheus' own client library reads it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "damage.hpp"
#include "node_directories.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::size_t kMetricsWords = 24000;
constexpr std::uint64_t kMetricsBytes = 8 * kMetricsWords + 8;  // of one rank's checkpoint, which here is one node's
constexpr int kMetricsNodes = 2;

class MetricsOfAJob : public ::testing::TestWithParam<const char*> {
 protected:
  /// Ends engines also after a failed test, because their store fails and nobody should wait for them.
  void TearDown() override { kill_engines(directory_.path()); }
  /// A rank that cannot continue ends the others at once.
  static std::function<int(const Rank&)> all_or_none(std::function<int(const Rank&)> body) {
    return [body = std::move(body)](const Rank& rank) {
      const int code = body(rank);
      if (code != 0) ::raise(SIGABRT);
      return code;
    };
  }
  std::string options() const {
    return options_in(directory_.path(), GetParam(),
                      "job=it \"runs\";engine.idle_exit=60;node.ranks_per_node=1;redundancy.scheme=partner");
  }
  /// Returns whether the tool's output is as expected, and prints each difference. A non-empty `at` names the file for
  /// the counters; no counter in `since` may have decreased.
  bool scrape(const std::string& at, const std::string& since, const std::vector<std::string>& expected) const {
    std::string command = std::string(PERDURE_PYTHON) + " " + PERDURE_CHECK_METRICS + " --engines " +
                          std::to_string(kMetricsNodes) + (at.empty() ? "" : " --save " + directory_ / at) +
                          (since.empty() ? "" : " --since " + directory_ / since) + " '" + PERDURE_PROGRAM +
                          " metrics --node " + directory_ / "node" + "'";
    for (const std::string& one : expected) command += " '" + one + "'";
    return std::system(command.c_str()) == 0;
  }
  /// Retries until it holds; prints the last differences, too.
  bool scrape_until(const std::vector<std::string>& expected, const std::string& at = "",
                    const std::string& since = "") const {
    return eventually("the metrics are as expected", [&] { return scrape(at, since, expected); });
  }
  RunOptions without_store() const {
    RunOptions run;
    run.ranks = kMetricsNodes;
    run.timeout_s = 200;
    run.in_child = [full = "pwrite:" + directory_.path() + "/store:ENOSPC"](int) {
      ::setenv("PERDURE_TEST_FAULTS", full.c_str(), 1);
    };
    return run;
  }
  static std::string bytes(std::uint64_t times) { return std::to_string(times * kMetricsBytes); }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, MetricsOfAJob, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

int checkpoint_to_store(perdure_t* handle, State& state, std::uint64_t step) {
  state.advance(step);
  const auto version = static_cast<std::int64_t>(step);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 60));
  return 0;
}

TEST_P(MetricsOfAJob, AreReadByPrometheusAndSayWhatTheProgramDid) {
  RunOptions run;
  run.ranks = kMetricsNodes;
  run.timeout_s = 200;
  const auto outcome = run_ranks(
      run, all_or_none([&](const Rank& rank) {
        perdure_t* handle = rank.open(options());
        State state(rank.rank, kMetricsWords);
        state.protect(handle);
        for (std::uint64_t step = 1; step <= 3; ++step) REQUIRE(checkpoint_to_store(handle, state, step) == 0);
        rank.barrier();
        if (rank.rank == 0)
          REQUIRE(scrape_until({"perdure_checkpoints_begun_total=3",
                                "perdure_checkpoints_committed_total=3",
                                "perdure_checkpoints_aborted_total=0",
                                "perdure_checkpoints_under_way=0",
                                "perdure_capture_bytes_total=" + bytes(3),
                                "perdure_capture_seconds_count=3",
                                "perdure_flush_bytes_total=" + bytes(3),
                                "perdure_flush_seconds_count=3",
                                "perdure_flush_failures_total=0",
                                "perdure_store_failing=0",
                                "perdure_unflushed_bytes=0",
                                "perdure_chunks_placed_total{tier=memory}=6",
                                "perdure_versions{level=process}=0",
                                "perdure_versions{level=store}>=1",
                                "perdure_protections_total{outcome=reached}=3",
                                "perdure_protections_total{outcome=failed}=0",
                                "perdure_redundancy_encoded_bytes_total=" + bytes(3),
                                "perdure_clients=1",
                                "perdure_tier_slots_used{tier=memory}>=2",
                                "perdure_tier_bytes{tier=memory}>=" + bytes(1),
                                "perdure_newest_checkpoint_timestamp_seconds{level=store}>=1.7e9",
                                "perdure_restored_bytes_total=0",
                                std::string("perdure_engine_info{mode=") + GetParam() + ",scheme=partner}=1",
                                "perdure_engine_start_time_seconds>=1.7e9"},
                               "first"));
        rank.barrier();
        for (std::uint64_t step = 4; step <= 5; ++step) REQUIRE(checkpoint_to_store(handle, state, step) == 0);
        state.advance(0);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
        REQUIRE(state.step == 5 && state.right());
        rank.barrier();
        if (rank.rank == 0)
          REQUIRE(scrape_until(
              {"perdure_checkpoints_committed_total=5", "perdure_capture_bytes_total=" + bytes(5),
               "perdure_flush_bytes_total=" + bytes(5), "perdure_protections_total{outcome=reached}>=5",
               "perdure_restored_bytes_total{source=slot}=" + bytes(1), "perdure_restored_bytes_total{source=store}=0"},
              "", "first"));
        rank.barrier();
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
        return 0;
      }));
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_P(MetricsOfAJob, TellOfAStoreThatFailsAndOfWhatCameBackFromOtherNodes) {
  const auto died = run_ranks(
      without_store(), all_or_none([&](const Rank& rank) {
        perdure_t* handle = rank.open(options());
        State state(rank.rank, kMetricsWords);
        state.protect(handle);
        state.advance(1);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 60));
        if (rank.rank == 0)
          REQUIRE(scrape_until({"perdure_store_failing=1", "perdure_flush_failures_total{outcome=retried}>=1",
                                "perdure_unflushed_bytes=" + bytes(1), "perdure_versions{level=node}=1",
                                "perdure_versions{level=store}=0", "perdure_redundancy_kept_bytes=" + bytes(1),
                                "perdure_newest_checkpoint_timestamp_seconds{level=node}>=1.7e9"}));
        rank.barrier();
        ::raise(SIGKILL);
        return 0;
      }));
  ASSERT_TRUE(died.all(128 + SIGKILL)) << died.text();
  kill_engines(directory_.path());
  ASSERT_GT(lose_node(directory_.path(), options(), 1), 0U);
  const std::string lost = "{node=" + perdure::os::host_name() + "#1";
  const auto again = run_ranks(
      without_store(), all_or_none([&](const Rank& rank) {
        perdure_t* handle = rank.open(options());
        State state(rank.rank, kMetricsWords);
        state.protect(handle);
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
        REQUIRE(state.step == 1 && state.right());
        rank.barrier();
        if (rank.rank == 0)
          REQUIRE(scrape_until(
              {"perdure_recoveries_total" + lost + ",outcome=done}=1",
               "perdure_recovered_bytes_total" + lost + ",source=redundancy}=" + bytes(1),
               "perdure_recovered_bytes_total{source=peer}=0", "perdure_recoveries_total{outcome=failed}=0",
               "perdure_restored_bytes_total{source=slot}=" + bytes(1), "perdure_checkpoints_committed_total=0"}));
        rank.barrier();
        return 0;
      }));
  kill_engines(directory_.path());
  EXPECT_TRUE(again.all(0)) << again.text();
}

}  // namespace
