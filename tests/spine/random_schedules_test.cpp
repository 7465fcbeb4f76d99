// Tests random nodes and policies, with storage that fills up, fails, crawls and comes back while checkpoints run. No
// rank waits for ever (run_ranks is the watchdog), a failed checkpoint fails on all ranks, and stored versions come
// back. A seed's parameters do not depend on the machine; its timing does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "faults.hpp"
#include "scenario.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::uint64_t kVersions = 4;

class Schedule {
 public:
  Schedule(unsigned seed, const std::string& directory) : random_(seed), directory_(directory) {}

  std::string options() {
    std::ofstream(directory_ + "/node.toml") << node();
    std::string all =
        options_in(directory_, pick({"embedded", "daemon"}),
                   "node.ranks_per_node=2;engine.idle_exit=60;checkpoint.timeout=20;flush.give_up_after=600");
    all += ";placement.policy=" + pick({"adaptive", "hybrid-opt", "hybrid-naive", "cache-only", "ssd-only"});
    all += ";flush.during_capture=" + pick({"auto", "always", "auto", "never"});
    all += ";flush.threads=" + std::to_string(1 + random_() % 4);
    all += ";flush.max_slowdown=" + pick({"0", "0.05"});
    return all + ";emulate.description=" + directory_ + "/node.toml";
  }
  /// Causes trouble for about half a second, then stops.
  void disturb(const Faults& faults) {
    for (int i = 0; i < 6; ++i) {
      faults.set(pick({"", "pwrite:/file/:EIO", "pwrite:/file/:ENOSPC:2:3", "slow:/file/:4", "pwrite:/store/:EIO:3:2",
                       "slow:/store/:4", "pwrite:/store/:ENOSPC", "pwrite:/file/:EIO\npwrite:/store/:EIO:2:5"}));
      ::usleep(static_cast<unsigned>(20'000 + random_() % 120'000));  // wait: the faults last for a drawn while
    }
    faults.set("");
  }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::string rate(unsigned least, unsigned most) {
    return "\"" + std::to_string(least + random_() % (most - least)) + "MB\"";
  }
  std::string device(unsigned least, unsigned most) {
    return "streams = [1, 4]\nbytes_per_s = [" + rate(least, most) + ", " + rate(least, 2 * most) +
           "]\nvariability = 0.3\nvariability_period_s = 0.05\n";
  }
  std::string node() {
    const std::string chunks = std::to_string(128 * (2 + random_() % 6)) + "KiB";
    return "tiers = [\"cache\", \"disk\"]\n[tier.cache]\n" + device(20, 60) + "capacity = \"" + chunks +
           "\"\n[tier.disk]\n" + device(10, 40) + "capacity = \"" + pick({"0", "512KiB", "4MiB"}) + "\"\n[store]\n" +
           device(20, 80);
  }

  std::mt19937 random_;
  std::string directory_;
};

class RandomSchedules : public ::testing::TestWithParam<unsigned> {};
Seeds schedule_seeds() { return chosen_seeds().value_or(Seeds{1, 12}); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomSchedules, ::testing::Range(schedule_seeds().first, schedule_seeds().last + 1));

/// Checkpoints until each version was taken; retries refused ones.
int persist(const Rank& rank, const std::string& options) {
  Protected app(rank, options, 40000);
  for (std::uint64_t version = 1; version <= kVersions; ++version) {
    perdure_status status = PERDURE_INTERNAL;
    for (int tries = 0; tries < 400 && status != PERDURE_OK; ++tries) {
      if (tries > 0) ::usleep(10'000);  // wait: all ranks call equally often, and so cannot look at a clock
      status = app.checkpoint(static_cast<std::int64_t>(version));
      RANK_CHECK(status == PERDURE_OK || !app.error().empty(), "an error without a text");
      // A rank may have been told of a peer's trouble only after its own engine had committed.
      if (status == PERDURE_EXISTS) status = PERDURE_OK;
    }
    RANK_CHECK(status == PERDURE_OK, app.error());
  }
  RANK_CHECK(app.wait(kVersions, 30) == PERDURE_OK, app.error());
  RANK_CHECK(app.restores(PERDURE_LATEST, kVersions), app.error());
  RANK_CHECK(app.close() == PERDURE_OK, "close");
  return 0;
}

TEST_P(RandomSchedules, NobodyWaitsForEverAndNothingIsLost) {
  const TemporaryDirectory directory;
  Schedule schedule(GetParam(), directory.path());
  const Faults faults(directory.path());
  faults.set("");
  const std::string options = schedule.options();
  RunOptions run;
  run.timeout_s = 120;
  run.in_child = [&](int) { faults.install(); };
  run.meanwhile = [&](const std::vector<int>&) { schedule.disturb(faults); };
  const auto outcome = run_ranks(run, [&](const Rank& rank) { return persist(rank, options); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text() << "\n" << options;
  stop_daemons(directory.path());
}

class TwoApplications : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, TwoApplications, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(TwoApplications, OnOneNodeWithTheSameTiersDoNotDisturbEachOther) {
  const TemporaryDirectory directory;
  const auto program = [&](const std::string& name) {
    Program made{
        options_in(directory.path(), GetParam(),
                   "engine.idle_exit=60;node.ranks_per_node=2;tier.file.max_bytes=512KiB;tier.memory.max_bytes="
                   "4MiB;checkpoint.timeout=40;store.path=" +
                       directory.path() + "/store-" + name)};
    made.wait_for_store = made.restore_at_end = true;
    return made;
  };
  const Program first = program("first"), second = program("second");
  Outcome other;
  RunOptions run;
  run.ranks = 2;
  RunOptions both = run;
  both.meanwhile = [&](const std::vector<int>&) {
    other = run_ranks(run, [&](const Rank& rank) { return second.run(rank); });
  };
  const auto outcome = run_ranks(both, [&](const Rank& rank) { return first.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  EXPECT_TRUE(other.all(0)) << other.text();
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store-first", "app", {4, 5});
  expect_clean_store(directory.path() + "/store-second", "app", {4, 5});
}

}  // namespace
