// Tests what a node keeps for the other nodes of its group: slots, catalog, and which sets go when room is needed.
#include <gmock/gmock.h>

#include "engine/ledger/redundancy_testing.hpp"

namespace perdure::engine {
namespace {

using Keeping = RedundancyFixture;

TEST_F(Keeping, WhatIsKeptSurvivesTheEngine) {
  open({2});
  const auto slot = take(1);
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(1, {slot})));
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  open({2});
  ASSERT_NE(core->redundancy.find(protection_id(1)), nullptr);
  EXPECT_TRUE(core->redundancy.find(protection_id(1))->reached);
  EXPECT_EQ(used(0), 1U);
  EXPECT_NE(take(1).slot, slot.slot);
}

TEST_F(Keeping, ASlotThatWasTakenAndNeverKeptIsFreeAgain) {
  open({1});
  const auto slot = take(1);
  EXPECT_FALSE(core->room.take_for_redundancy(id(1), kChunk));
  core->room.give_back({slot.tier, slot.slot});
  core->room.give_back({slot.tier, slot.slot});  // a second call has no effect
  EXPECT_EQ(used(0), 0U);
  (void)take(1);
  open({1});  // its engine died before it recorded anything
  EXPECT_EQ(used(0), 0U);
}

TEST_F(Keeping, ASlotThatWasNotTakenIsRefused) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  const auto refused = core->redundancy.keep(redundancy_set(2, {core->tiers()[0]->address(0)}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(core->redundancy.find(protection_id(2)), nullptr);
}

TEST_F(Keeping, KeptAgainTheOldSlotsAreFreeButForThoseThatStay) {
  open({3});
  const auto first = take(1), second = take(1);
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(1, {first, second})));
  const auto third = take(1);
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(1, {first, third})));
  EXPECT_EQ(used(0), 2U);
  EXPECT_EQ(take(1).slot, second.slot);
}

TEST_F(Keeping, ABadBlockIsGoneAndTheLevelWithIt) {
  open({2});
  ASSERT_TRUE(keep_one(1));
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  ASSERT_TRUE(core->redundancy.bad_block(protection_id(1), {0, 0}, "its hash is wrong"));
  EXPECT_FALSE(core->redundancy.find(protection_id(1))->reached);
  EXPECT_EQ(used(0), 0U);
  EXPECT_THAT(taken_reports(), testing::ElementsAre(testing::HasSubstr("its hash is wrong")));
}

TEST_F(Keeping, OfABlockThatIsNotKeptNobodyIsTold) {
  open({2});
  ASSERT_TRUE(keep_one(1));
  EXPECT_TRUE(core->redundancy.bad_block(protection_id(1), {7, 0}, "its hash is wrong"));
  EXPECT_TRUE(core->redundancy.bad_block(protection_id(2), {0, 0}, "its hash is wrong"));
  EXPECT_EQ(used(0), 1U);
  EXPECT_THAT(taken_reports(), testing::IsEmpty());
}

TEST_F(Keeping, ItsBytesAreThoseOfAllBlocks) {
  open({4});
  EXPECT_EQ(core->redundancy.bytes(), 0U);
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(1, {take(1), take(1)})));
  ASSERT_TRUE(keep_one(2));
  EXPECT_EQ(core->redundancy.bytes(), 3 * kChunk);
  ASSERT_TRUE(core->redundancy.drop(protection_id(1)));
  EXPECT_EQ(core->redundancy.bytes(), kChunk);
}

TEST_F(Keeping, PromisedIsWhatHasReachedItsLevelAndIsNeeded) {
  open({2});
  ASSERT_TRUE(keep_one(1));
  EXPECT_FALSE(core->redundancy.promised(id(1))) << "its group has not said so";
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  EXPECT_TRUE(core->redundancy.promised(id(1)));
  core->redundancy.group_stored(protection_id(1));
  EXPECT_FALSE(core->redundancy.promised(id(1))) << "all have stored their part";
}

TEST_F(Keeping, RetiringAVersionFreesWhatIsKeptForIt) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1, 1));
  ASSERT_TRUE(keep_one(1, 2));
  ASSERT_TRUE(core->held.retire({"app", 1}));
  EXPECT_EQ(used(0), 0U);
  EXPECT_EQ(core->redundancy.find(protection_id(1, 1)), nullptr);
  EXPECT_EQ(core->redundancy.find(protection_id(1, 2)), nullptr);
}

TEST_F(Keeping, ARetiredVersionThatIsOnlyKeptForOthersIsFreed) {
  open({1});
  ASSERT_TRUE(keep_one(1));
  ASSERT_TRUE(core->held.retire({"app", 1}));
  EXPECT_EQ(used(0), 0U);
}

TEST_F(Keeping, WhatIsForgottenUntilATimeLeavesLaterAttemptsAndTheirRedundancy) {
  open({4});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1));
  ASSERT_TRUE(checkpoint(2));
  ASSERT_TRUE(keep_one(2));
  ASSERT_LT(id(1).attempt.created_ns, id(2).attempt.created_ns);
  EXPECT_THAT(core->held.named_by({"other", std::nullopt}), testing::IsEmpty());
  EXPECT_THAT(core->held.named_by({"app", 2, id(1).attempt.created_ns}), testing::IsEmpty());
  const ipc::Retire until{"app", std::nullopt, id(1).attempt.created_ns};
  EXPECT_THAT(core->held.named_by(until), testing::ElementsAre(id(1)));
  ASSERT_TRUE(core->held.retire(until));
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_EQ(core->redundancy.find(protection_id(1)), nullptr);
  EXPECT_NE(core->find(id(2)), nullptr);
  EXPECT_NE(core->redundancy.find(protection_id(2)), nullptr);
  EXPECT_EQ(used(0), 2U);
}

TEST_F(Keeping, AStoredVersionStaysWhileOthersNeedItToRebuildTheirs) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1));
  store(1);
  EXPECT_EQ(grant(1, id(2)).kind, GrantOutcome::Kind::wait);
  core->redundancy.group_stored(protection_id(1));
  EXPECT_EQ(grant(1, id(2)).kind, GrantOutcome::Kind::granted);
  EXPECT_EQ(core->find(id(1)), nullptr) << "its slot was taken";
}

TEST_F(Keeping, WhenANewerVersionIsProtectedEverywhereTheOlderOnesMayGo) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1));
  store(1);
  core->redundancy.node_level_everywhere("app", id(1).attempt.created_ns);
  EXPECT_EQ(grant(1, id(2)).kind, GrantOutcome::Kind::wait) << "version 1 is the newest itself";
  core->redundancy.node_level_everywhere("other", id(9, "other").attempt.created_ns);
  EXPECT_EQ(grant(1, id(2)).kind, GrantOutcome::Kind::wait) << "another name says nothing";
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  EXPECT_EQ(grant(1, id(3)).kind, GrantOutcome::Kind::granted);
  EXPECT_EQ(grant(1, id(3)).kind, GrantOutcome::Kind::granted) << "what was kept for version 1 goes, too";
  EXPECT_EQ(core->redundancy.find(protection_id(1)), nullptr);
}

// An application that goes back to a version continues from it, so newer versions no longer supersede it.
TEST_F(Keeping, WhatTheApplicationWentBackToMayNotGo) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1));
  store(1);
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns, {id(1).attempt.created_ns});
  EXPECT_EQ(grant(1, id(3)).kind, GrantOutcome::Kind::wait);
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  EXPECT_EQ(grant(1, id(3)).kind, GrantOutcome::Kind::granted);
}

// In a full tier there would be no room for the redundancy of the next launch.
TEST_F(Keeping, WhatIsSupersededStaysSoWhenTheEngineDiesUntilAVersionIsKeptUpOrGivenUp) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1, 5));
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  open({3});
  core->redundancy.in_epoch(6);
  EXPECT_FALSE(core->redundancy.needed_by_others());
  EXPECT_FALSE(core->redundancy.promise(id(1))) << "of an earlier launch";
  EXPECT_TRUE(core->redundancy.needed_by_others()) << "it was restored";
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  EXPECT_FALSE(core->redundancy.needed_by_others());
  ASSERT_TRUE(core->held.retire({"app", 2}));
  EXPECT_TRUE(core->redundancy.needed_by_others()) << "what superseded it is gone on purpose";
}

TEST_F(Keeping, RedundancyNeverTakesTheRoomOfWhatIsOnlyHere) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  const auto refused = core->room.take_for_redundancy(id(2), kChunk);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_NE(core->find(id(1)), nullptr);
}

TEST_F(Keeping, WhatACaptureWillNeedIsNotSpare) {
  open({4});
  const ipc::Begin begin{id(1),
                         1,
                         {0, kChunk, {{0, 1, 3 * kChunk}}, std::vector(3, segment::ChunkEntry{0, kChunk, {}, 0})},
                         {{0, 1, {0}}}};
  core->grants.begin_capture(1, begin);
  ASSERT_NE(core->captures.to_replicate(id(1)), nullptr);
  const auto spare = core->room.take_spare(id(1), kChunk);
  ASSERT_TRUE(spare) << spare.error().text();
  const auto refused = core->room.take_spare(id(1), kChunk);
  ASSERT_FALSE(refused) << "three are to come, and three are free";
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(grant(1, id(1)).kind, GrantOutcome::Kind::granted);
  EXPECT_FALSE(core->room.take_spare(id(1), kChunk)) << "one is to come, and one is free";
  core->room.give_back({spare->tier, spare->slot});
  EXPECT_TRUE(core->room.take_spare(id(1), kChunk));
  EXPECT_EQ(grant(1, id(1)).kind, GrantOutcome::Kind::granted);
}

TEST_F(Keeping, ASlotThatTwoRecordsClaimIsABadBlock) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  const auto slot = take(2);
  ASSERT_TRUE(core->redundancy.keep(redundancy_set(2, {slot})));
  close();
  {  // a damaged log: it lost the record that the slot's earlier owner was dropped
    auto log = catalog::Catalog::open(directory.path());
    auto contradicting = redundancy_set(3, {slot});
    contradicting.kept[{0, 0}].offset = slot.slot == 0 ? 1 : 0;  // version 1's slot
    ASSERT_TRUE(log->append(catalog::RedundancyRecord{contradicting}));
  }
  open({2});
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_EQ(core->redundancy.find(protection_id(2))->kept.size(), 1U);
  EXPECT_TRUE(core->redundancy.find(protection_id(3))->kept.empty());
  EXPECT_THAT(taken_reports(), testing::Contains(testing::HasSubstr("disagree about its slot")));
}

TEST_F(Keeping, ARecordOfWhoHasStoredGoesWithTheRedundancy) {
  open({4});
  ASSERT_TRUE(keep_one(1));
  core->redundancy.group_stored(protection_id(1));
  core->redundancy.group_stored(protection_id(2));  // no set is kept for it
  ASSERT_NE(core->tracked().find(id(1)), nullptr);
  EXPECT_EQ(core->tracked().find(id(2)), nullptr);
  EXPECT_FALSE(core->redundancy.needed_by_others());
  ASSERT_TRUE(core->redundancy.drop(protection_id(1)));
  EXPECT_EQ(core->tracked().find(id(1)), nullptr) << "it would stay for ever";
}

}  // namespace
}  // namespace perdure::engine
