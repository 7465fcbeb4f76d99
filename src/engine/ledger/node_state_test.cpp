// Tests slots and versions: which rank gets a slot, what is kept and what may be evicted.
#include "engine/ledger/node_state.hpp"

#include <gmock/gmock.h>

#include "base/cbor.hpp"
#include "engine/ledger/node_state_testing.hpp"
#include "segment/manifest_codec.hpp"
#include "support/sanitized.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
using NodeStateTest = NodeStateFixture;

TEST_F(NodeStateTest, GivesTheFasterTierFirstAndTheNextWhenItIsFull) {
  open({1, 1});
  EXPECT_EQ(grant(1, id(1)).address.tier, 0u);
  EXPECT_EQ(grant(1, id(1)).address.tier, 1u);
}

TEST_F(NodeStateTest, RefusesAVersionThatCanNeverFit) {
  open({1, 1});
  EXPECT_EQ(grant(1, id(1)).kind, Kind::granted);
  EXPECT_EQ(grant(1, id(1)).kind, Kind::granted);
  const auto refused = grant(1, id(1));
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.error.code, PERDURE_NO_SPACE);
}

TEST_F(NodeStateTest, LetsARankWaitWhileAFlushOrAnotherCheckpointCanFreeASlot) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  EXPECT_EQ(grant(1, id(2)).kind, Kind::wait);
  store(1);
  EXPECT_EQ(grant(1, id(2)).kind, Kind::granted);
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_EQ(grant(2, id(3, "other")).kind, Kind::wait);  // the slot of client 1 is in flight
}

TEST_F(NodeStateTest, EvictsTheOldestStoredVersionAndNeverOneThatIsNotStored) {
  open({3});
  for (std::uint64_t version : {1, 2, 3}) ASSERT_TRUE(checkpoint(version));
  store(3);
  store(2);
  ASSERT_TRUE(checkpoint(4));
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_NE(core->find(id(3)), nullptr);
}

TEST_F(NodeStateTest, NeverEvictsWhatARestoreIsReading) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  ASSERT_TRUE(core->held.locate(7, id(1), 0));
  EXPECT_EQ(grant(1, id(2)).kind, Kind::wait);
  core->client_gone(7);
  EXPECT_EQ(grant(1, id(2)).kind, Kind::granted);
}

TEST_F(NodeStateTest, DropsSupersededVersionsOnlyWhileTheStoreFails) {
  open({3});
  for (std::uint64_t version : {1, 2, 3}) ASSERT_TRUE(checkpoint(version));
  EXPECT_FALSE(checkpoint(4));
  ASSERT_EQ(core->flushes.next(), id(1));
  EXPECT_FALSE(checkpoint(4)) << "a flush is running";
  core->flushes.failed(id(1), {PERDURE_IO, "store", "it burns", "", true}, false);
  ASSERT_TRUE(checkpoint(4));
  ASSERT_TRUE(checkpoint(5));
  EXPECT_TRUE(core->lost(id(1)) && core->lost(id(2)));
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_EQ(taken_reports().size(), 1u) << "said once";
  core->flushes.succeeded(id(3), kChunk, 1);
  EXPECT_EQ(taken_reports().size(), 1u) << "how many they were";
  EXPECT_FALSE(checkpoint(6)) << "the store works again: wait for it";
}

TEST_F(NodeStateTest, DropsNothingThatIsNotStoredWhileRoomMayComeFromElsewhere) {
  open({2});
  ASSERT_TRUE(checkpoint(1) && checkpoint(2));
  ASSERT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), {PERDURE_UNAVAILABLE, "store", "it is away", "", true}, false);
  GrantContext context;
  context.only_stored = true;
  const ipc::Grant request{id(3), kChunk, 0, {}, {}};
  EXPECT_NE(core->grants.grant(1, request, context).kind, GrantOutcome::Kind::granted);
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_EQ(core->grants.grant(1, request).kind, GrantOutcome::Kind::granted);
  EXPECT_EQ(core->find(id(1)), nullptr);
}

TEST_F(NodeStateTest, NeverDropsTheNewestVersionOfANameHoweverLongTheStoreFails) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  (void)core->flushes.next();
  core->flushes.failed(id(1), {PERDURE_PERMISSION, "store", "no", "", false}, true);
  EXPECT_EQ(grant(1, id(2)).kind, Kind::refused) << "nothing will ever free a slot";
  EXPECT_NE(core->find(id(1)), nullptr);
}

TEST_F(NodeStateTest, SlotsInFlightAreFreeWhenTheirClientGoesOrTheCheckpointIsAborted) {
  open({2});
  ASSERT_EQ(grant(1, id(1)).kind, Kind::granted);
  ASSERT_EQ(grant(2, id(1)).kind, Kind::granted);
  core->client_gone(1);
  EXPECT_EQ(used(0), 1u);
  ASSERT_TRUE(core->held.abort(2, id(1)));
  EXPECT_EQ(used(0), 0u);
}

TEST_F(NodeStateTest, RefusesToStageSlotsThatWereNotGrantedForIt) {
  open({4});
  const auto mine = grant(1, id(1)), others = grant(2, id(1)), older = grant(1, id(9));
  auto never = mine.address;
  never.slot = 77;
  for (const auto& slot : {others.address, older.address, never}) {
    auto refused = core->held.stage(1, staged(id(1), {slot}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  }
  auto longer = staged(id(1), {mine.address});
  longer.piece.chunks[0].length = kChunk + 1;
  EXPECT_FALSE(core->held.stage(1, longer));
  EXPECT_TRUE(core->held.stage(1, staged(id(1), {mine.address})));
}

// A piece that no reader would accept is refused before anybody is told that it is safe.
TEST_F(NodeStateTest, RefusesMoreThanASegmentCanDescribe) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  open({4});
  const auto stage = [&](std::uint32_t rank, std::size_t regions) {
    auto all = staged(id(1), {grant(rank + 1, id(1)).address}, rank);
    all.ranks = 4;
    for (std::size_t i = 1; i < regions; ++i) all.piece.regions.push_back({static_cast<std::int32_t>(i), 1, 0});
    return core->held.stage(rank + 1, all);
  };
  const auto refused = stage(0, base::kMaxCborItems / 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("more than a segment can describe of one rank"));
  for (const std::uint32_t rank : {1U, 2U})
    EXPECT_TRUE(stage(rank, 600'000)) << "each rank has a table of its own, where one manifest is too small for all";
}

TEST_F(NodeStateTest, RefusesToStageTwoChunksInOneSlot) {
  open({2});
  const auto slot = grant(1, id(1)).address;
  EXPECT_FALSE(core->held.stage(1, staged(id(1), {slot, slot})));
  EXPECT_TRUE(core->held.stage(1, staged(id(1), {slot})));
}

TEST_F(NodeStateTest, ATierThatARankCannotWriteIsAvoidedUntilTheNextCheckpointAndReportedOnce) {
  open({4, 4});
  const auto bad = grant(1, id(1)).address;
  ASSERT_EQ(bad.tier, 0u);
  const auto good = grant(1, id(1), {0}).address;
  EXPECT_EQ(good.tier, 1u);
  EXPECT_EQ(grant(2, id(2, "other")).address.tier, 1u) << "others keep away from it, too";
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {good})));
  EXPECT_EQ(used(0), 0u) << "the slot that could not be written is free again";
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  const auto again = grant(1, id(3));
  EXPECT_EQ(again.address.tier, 0u);
  (void)grant(1, id(3), {0});
  EXPECT_EQ(taken_reports().size(), 1u);
  EXPECT_EQ(grant(1, id(3), {0, 1}).kind, Kind::refused);
}

TEST_F(NodeStateTest, StagingTwiceAndCommittingWhatIsNotThereAreRefused) {
  open({4});
  EXPECT_EQ(core->held.commit(commit_of(id(1))).error().code, PERDURE_NOT_FOUND);
  const auto first = grant(1, id(1)).address, second = grant(1, id(1)).address;
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {first})));
  EXPECT_FALSE(core->held.stage(1, staged(id(1), {second})));
  EXPECT_EQ(core->held.commit({id(1), {{0, 1, {0, 1}}}}).error().code, PERDURE_INCOMPLETE)
      << "rank 1 has staged nothing";
  EXPECT_TRUE(core->held.commit(commit_of(id(1))));
  EXPECT_TRUE(core->held.commit(commit_of(id(1)))) << "repeatable";
  EXPECT_EQ(core->held.abort(1, id(1)).error().code, PERDURE_BUSY);
}

}  // namespace
}  // namespace perdure::engine
