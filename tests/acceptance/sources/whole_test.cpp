// Tests all additions of the layout's acceptance test in use together. Engines of both kinds flush from the added tier
// to the added store, restore from both, retire, and lose nodes under the added scheme.
#include <gtest/gtest.h>

#include "node_loss.hpp"
#include "scenario.hpp"
#include "store/store.hpp"

namespace {

using namespace perdure::test_support;

class Added : public NodeLoss {
 protected:
  std::string added(const std::string& more = "") const {
    return ";tier.order=striped;tier.striped.max_bytes=64MiB;tier.striped.path=" + directory_.path() +
           "/file;store.path=log://" + directory_.path() + "/store" + more;
  }
  std::vector<std::uint64_t> stored() const {
    const auto store = perdure::store::make_store("log://" + directory_.path() + "/store").value();
    std::vector<std::uint64_t> versions;
    const auto listings = store->list("app").value();
    for (const auto& listing : listings) {
      EXPECT_TRUE(perdure::store::read_version(*store, listing)) << listing.id.text();
      versions.push_back(listing.id.version);
    }
    return versions;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Added,
                         ::testing::Values(Loss{"embedded", "embedded", "neighbour-sums", 4, 1, {1}, true, ""},
                                           Loss{"daemon", "daemon", "neighbour-sums", 4, 1, {2}, true, ""}),
                         [](const auto& param) { return param.param.name; });

TEST_P(Added, TheStoreTakesVersionsAndRetiresThem) {
  Program program{options_in(directory_.path(), loss().mode, "retention.keep_last=2" + added())};
  program.wait_for_store = true;
  program.store_each_step = true;
  auto outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  EXPECT_EQ(stored(), (std::vector<std::uint64_t>{4, 5}));
  fs::remove_all(directory_.path() + "/node");
  fs::remove_all(directory_.path() + "/file");
  program.must_restore_at_least = 5;
  program.last = 6;
  outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_P(Added, WhatIsInTheTierOutlivesTheProgramAndTheFlushIsFinished) {
  Program program{options_in(directory_.path(), loss().mode, "node.ranks_per_node=2" + added())};
  auto outcome = run_ranks({}, [&](const Rank& rank) {
    if (rank.rank == 2) ::setenv("PERDURE_TEST_CRASH", "checkpoint_chunk_written:5", 1);
    return program.run(rank);
  });
  EXPECT_EQ(outcome.exit_codes[2], 128 + SIGKILL) << outcome.text();
  bool tier = false;
  for (const auto& entry : fs::directory_iterator(directory_.path() + "/file"))
    tier = tier || entry.path().filename().string().ends_with(".striped");
  EXPECT_TRUE(tier) << "the tier's own directory";
  program.must_restore_at_least = 1;
  program.wait_for_store = true;
  outcome = run_ranks({}, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_P(Added, ALostNodeComesBackOutOfTheSumsOfItsNeighbours) {
  const std::string more = added();
  auto outcome = outcome_of(without_store(), more, [&](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(checkpoint_to_node(handle, state, 1) == 0);
    rank.barrier();
    ::raise(SIGKILL);
    return 0;
  });
  ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  for (const int node : loss().lost) {
    std::size_t removed = 0;
    perdure::config::Config config;
    ASSERT_TRUE(config.set_all(options(more), perdure::config::Origin::program));
    const std::string key = perdure::engine::node_key(config, perdure::os::host_name() + "#" + std::to_string(node));
    for (const char* part : {"/node", "/file"})
      for (const auto& entry : fs::directory_iterator(directory_.path() + part))
        if (entry.path().filename().string().starts_with(key)) removed += fs::remove_all(entry.path());
    ASSERT_GT(removed, 0U);
  }
  expect_restored(1, more);
}

}  // namespace
