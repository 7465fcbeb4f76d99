// Tests the order of flushes, giving up, and what a restarted node finds in the catalog.
#include <algorithm>
#include <filesystem>

#include "engine/ledger/node_state_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

const base::Error kFull{PERDURE_NO_SPACE, "store", "full", "", true};
using NodeStateFlushTest = NodeStateFixture;

TEST_F(NodeStateFlushTest, GoesInTheOrderOfCommits) {
  open({9});
  for (std::uint64_t version : {5, 3, 8}) ASSERT_TRUE(checkpoint(version));
  EXPECT_EQ(core->pending_versions(), 3u);
  EXPECT_EQ(core->pending_bytes(), 3 * kChunk);
  for (std::uint64_t version : {5, 3, 8}) {
    ASSERT_EQ(core->flushes.next(), id(version));
    store(version);
  }
  EXPECT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_FALSE(core->holds_unstored());
  EXPECT_EQ(core->counters().stored_bytes, 3 * kChunk);
}

TEST_F(NodeStateFlushTest, WhatAStoreLostThatWasRemovedIsBroughtThereAgainOldestFirst) {
  open({9});
  ASSERT_FALSE(core->flushes.see_incarnation(id(1).name, 7).value());
  for (std::uint64_t version : {1, 2, 3}) ASSERT_TRUE(checkpoint(version));  // there is room for all of them
  for (std::uint64_t version : {1, 2}) {
    ASSERT_EQ(core->flushes.next(), id(version));
    store(version);
  }
  ASSERT_FALSE(core->flushes.see_incarnation(id(1).name, 7).value());
  ASSERT_FALSE(core->flushes.see_incarnation("other", 8).value());
  ASSERT_EQ(core->flushes.next(), id(3));
  ASSERT_TRUE(core->flushes.see_incarnation(id(1).name, 8).value());
  EXPECT_TRUE(core->holds_unstored());
  core->flushes.interrupted(id(3));
  for (std::uint64_t version : {1, 2, 3}) {
    ASSERT_EQ(core->flushes.next(), id(version));
    store(version);
  }
  EXPECT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_FALSE(core->flushes.see_incarnation(id(1).name, 8).value());
}

TEST_F(NodeStateFlushTest, ASegmentThatTheStoreHasNoMoreIsBroughtThereAgainAfterARestartToo) {
  open({9});
  for (std::uint64_t version : {1, 2}) {
    ASSERT_TRUE(checkpoint(version));
    ASSERT_EQ(core->flushes.next(), id(version));
    store(version);
  }
  for (const auto& [of, segment] : {std::pair(id(7), 0U), std::pair(id(2), 7U)}) {
    ASSERT_TRUE(core->flushes.segments_gone(of, {segment}));
    EXPECT_FALSE(core->holds_unstored()) << "it is not held, or not a segment of it";
  }
  EXPECT_TRUE(taken_reports().empty());
  ASSERT_TRUE(core->flushes.segments_gone(id(2), {0}));
  EXPECT_EQ(taken_reports().size(), 1U);
  ASSERT_TRUE(core->flushes.segments_gone(id(2), {0}));
  EXPECT_TRUE(taken_reports().empty()) << "it is on its way already";
  const auto told = core->held.inventory("app");
  const auto second = std::ranges::find(told, id(2), &ipc::HeldSummary::id);
  ASSERT_NE(second, told.end());
  EXPECT_FALSE(second->stored);
  open({9});
  ASSERT_EQ(core->flushes.next(), id(2));
  store(2);
  EXPECT_EQ(core->flushes.next(), std::nullopt);
}

// When only half of the loss is recorded, the other half must not be forgotten.
TEST_F(NodeStateFlushTest, ACatalogThatTakesOneOfTwoGoneSegmentsHasThatOneFlushed) {
  open({9});
  for (std::uint32_t rank : {0, 1}) {
    auto stage = staged(id(1), {grant(1, id(1)).address}, rank);
    stage.ranks = 2;
    ASSERT_TRUE(core->held.stage(1, stage));
  }
  ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}, {1, 2, {1}}}}));
  ASSERT_EQ(core->flushes.next(), id(1));
  ASSERT_TRUE(core->flushes.segment_stored(id(1), 1));
  store(1);
  ASSERT_FALSE(core->holds_unstored());
  {
    os::FaultRules full(*os::parse_fault_rules("pwrite:/catalog:ENOSPC:2"));
    const test_support::InstalledHooks installed(full);
    EXPECT_FALSE(core->flushes.segments_gone(id(1), {0, 1}));
  }
  ASSERT_EQ(core->flushes.next(), id(1));
  store(1);
  EXPECT_FALSE(core->holds_unstored());
  EXPECT_EQ(core->flushes.next(), std::nullopt);
}

TEST_F(NodeStateFlushTest, WhatIsDamagedHereTooIsLeftAsItIs) {
  open({9});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_EQ(core->flushes.next(), id(1));
  store(1);
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "flipped"}));
  (void)taken_reports();
  ASSERT_TRUE(core->flushes.segments_gone(id(1), {0}));
  EXPECT_FALSE(core->holds_unstored());
  EXPECT_TRUE(taken_reports().empty());
}

TEST_F(NodeStateFlushTest, AFailedOneComesAgainBeforeYoungerOnes) {
  open({9});
  for (std::uint64_t version : {1, 2}) ASSERT_TRUE(checkpoint(version));
  ASSERT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), kFull, false);
  EXPECT_EQ(core->flushes.next(), id(1));
}

TEST_F(NodeStateFlushTest, OneThatWasGivenUpComesAgainAfterTheNextCheckpointOrTheNextSuccess) {
  open({9});
  for (std::uint64_t version : {1, 2}) ASSERT_TRUE(checkpoint(version));
  for (std::uint64_t version : {1, 2}) {
    ASSERT_EQ(core->flushes.next(), id(version));
    core->flushes.failed(id(version), kFull, true);
  }
  EXPECT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_EQ(core->given_up_versions(), 2u);
  ASSERT_TRUE(checkpoint(3));
  ASSERT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), kFull, true);
  ASSERT_EQ(core->flushes.next(), id(2));
  store(2);
  EXPECT_EQ(core->flushes.next(), id(1));
}

TEST_F(NodeStateFlushTest, DamagedVersionsAreNeverTriedAgain) {
  open({9});
  ASSERT_TRUE(checkpoint(1));
  (void)core->flushes.next();
  core->flushes.failed(id(1), {PERDURE_CORRUPT, "slot", "flipped", "", false}, true);
  ASSERT_TRUE(checkpoint(2));
  EXPECT_EQ(core->flushes.next(), id(2));
}

TEST_F(NodeStateFlushTest, KeepsSoManyStoredVersionsAsACache) {
  open({9});
  for (std::uint64_t version : {1, 2, 3, 4}) ASSERT_TRUE(checkpoint(version));
  for (std::uint64_t version : {1, 2, 3}) store(version);
  ASSERT_TRUE(core->flushes.forget_old("app", 1));
  for (std::uint64_t version : {1, 2}) EXPECT_EQ(core->find(id(version)), nullptr);
  for (std::uint64_t version : {3, 4}) EXPECT_NE(core->find(id(version)), nullptr);
}

TEST_F(NodeStateFlushTest, ANewCoreHoldsWhatTheOldOneHeldAndFlushesTheRest) {
  open({9});
  for (std::uint64_t version : {1, 2}) ASSERT_TRUE(checkpoint(version));
  const auto half = grant(1, id(3)).address;
  ASSERT_EQ(grant(1, id(4)).kind, GrantOutcome::Kind::granted);  // in flight; it goes with its rank
  ASSERT_TRUE(core->held.stage(1, staged(id(3), {half})));
  store(1);
  open({9});
  EXPECT_EQ(used(0), 3u);
  EXPECT_TRUE(core->find(id(1))->all_stored());
  EXPECT_FALSE(core->find(id(3))->committed);
  EXPECT_EQ(core->flushes.next(), id(2));
  EXPECT_TRUE(core->holds_unstored());
}

TEST_F(NodeStateFlushTest, WhatWasLostWithItsTierIsDroppedAtTheStart) {
  open({9});
  ASSERT_TRUE(checkpoint(1));
  close();
  // The directory stays. A new directory may mean that another tier was mounted there, and the lost one may come back.
  for (const auto& entry : std::filesystem::directory_iterator(directory / "tier0"))
    std::filesystem::remove_all(entry.path());
  open({9});
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_TRUE(checkpoint(2));
}

TEST_F(NodeStateFlushTest, AFullCatalogDelaysCommitsUntilItCanBeWritten) {
  open({9});
  const auto slot = grant(1, id(1)).address;
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {slot})));
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/catalog:ENOSPC"));
    test_support::InstalledHooks installed(faults);
    EXPECT_TRUE(core->held.commit(commit_of(id(1))));
    EXPECT_EQ(core->flushes.next(), std::nullopt);
    EXPECT_TRUE(core->held.inventory("app")[0].committed);
    EXPECT_EQ(core->pending_versions(), 1u);
    EXPECT_EQ(core->held.abort(1, id(1)).error().code, PERDURE_BUSY);
  }
  EXPECT_EQ(taken_reports().size(), 1u);
  EXPECT_EQ(core->flushes.next(), id(1));
  EXPECT_EQ(core->pending_versions(), 1u);
}

TEST_F(NodeStateFlushTest, AnEvictionThatTheCatalogRefusesIsARefusalWithItsReason) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  os::FaultRules faults(*os::parse_fault_rules("pwrite:/catalog:EIO"));
  test_support::InstalledHooks installed(faults);
  const auto refused = grant(1, id(2));
  EXPECT_EQ(refused.kind, GrantOutcome::Kind::refused);
  EXPECT_NE(refused.error.text().find("/catalog"), std::string::npos) << refused.error.text();
  EXPECT_NE(core->find(id(1)), nullptr);
}

TEST_F(NodeStateFlushTest, AQuarantinedChunkIsReportedOnceAndItsRankNoLongerListed) {
  open({9});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "flipped"}));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "flipped"}));
  EXPECT_EQ(taken_reports().size(), 1u);
  EXPECT_TRUE(core->held.inventory("app")[0].held.empty());
}

}  // namespace
}  // namespace perdure::engine
