// Tests captures that do not fit: what is flushed early, which slots are reused, and what the catalog records
// meanwhile.
#include "engine/ledger/capture_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
using NodeStateCapture = CaptureFixture;

TEST_F(NodeStateCapture, OnlyWhatDoesNotFitIsFlushedEarly) {
  open({3}, early());
  announce(1, id(1), 3);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
  announce(1, id(2), 4);
  EXPECT_EQ(core->captures.next_write_through(), id(2));
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt) << "it is under way";
  open({3}, early(DuringCapture::always));
  announce(1, id(3), 1);
  EXPECT_EQ(core->captures.next_write_through(), id(3));
  open({3}, early(DuringCapture::never));
  announce(1, id(4), 4);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
}

TEST_F(NodeStateCapture, IsFlushedEarlyWhenOthersTookTheRoom) {
  open({3, 3}, early());
  announce(1, id(1), 2);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(grant(9, id(1, "other")).address.tier, 0u);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
  EXPECT_EQ(grant(1, id(1)).address.tier, 1u);
  EXPECT_EQ(core->captures.next_write_through(), id(1));
}

TEST_F(NodeStateCapture, WaitsForTheOtherRanksToSayWhatTheyWrite) {
  open({1}, early());
  announce(1, id(1), 2, 2);
  const auto slot = write(1, id(1), 0);
  EXPECT_EQ(grant(1, id(1)).kind, Kind::wait);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
  announce(2, id(1), 2, 2);
  EXPECT_EQ(core->captures.next_write_through(), id(1));
  EXPECT_EQ(grant(1, id(1)).kind, Kind::wait);
  flush(id(1), chunk_in(slot, 0));
  EXPECT_EQ(grant(1, id(1)).kind, Kind::granted);
}

// Policies would rather fill a slow tier than wait for slots that do not come.
TEST_F(NodeStateCapture, SlotsCountAsComingUntilNobodyCanBeExpectedToSayWhatHeWrites) {
  const auto to_come = [this] { return core->outlook.tiers(1, {id(1), kChunk, 0, {}, {}}, false)[0].slots_to_come; };
  open({1, 1}, early());
  announce(1, id(1), 2, 2);
  write(1, id(1), 0);
  EXPECT_EQ(to_come(), 1u);
  core->client_gone(9, 5);
  core->client_gone(10);
  EXPECT_EQ(to_come(), 1u) << "they have nothing to do with it";
  core->client_gone(11, 1);
  EXPECT_EQ(to_come(), 0u) << "it may have been its second rank";
  announce(2, id(1), 2, 2);
  EXPECT_EQ(to_come(), 1u) << "it was not";
}

TEST_F(NodeStateCapture, OneThatFitsIsNotFlushedEarlyHoweverMuchWasWrittenBeforeTheLastAnnouncement) {
  open({2, 2}, early());
  announce(1, id(1), 1, 2);
  write(1, id(1), 0);
  announce(2, id(1), 1, 2);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
}

TEST_F(NodeStateCapture, NothingComesOfACaptureThatContradictsItselfOrIsNotToBeFlushed) {
  const auto to_come = [this] { return core->outlook.tiers(1, {id(1), kChunk, 0, {}, {}}, false)[0].slots_to_come; };
  open({2}, early());
  announce(1, id(1), 2, 3);
  write(1, id(1), 0);
  EXPECT_EQ(to_come(), 1u);
  announce(1, id(1), 2, 3);
  EXPECT_EQ(to_come(), 0u);
  announce(2, id(1), 2, 3);
  announce(3, id(1), 2, 3);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt) << "what contradicts itself once is never known";
  write(1, id(1), 1);
  EXPECT_EQ(grant(2, id(1)).kind, Kind::refused);
  open({2}, early(DuringCapture::never));
  announce(1, id(2), 2, 2);
  ASSERT_EQ(grant(1, id(2)).kind, Kind::granted);
  EXPECT_EQ(core->outlook.tiers(1, {id(2), kChunk, 0, {}, {}}, false)[0].slots_to_come, 0u);
}

// The capture is flushed early, and all slots granted for it are in a tier that the rank cannot write.
TEST_F(NodeStateCapture, NobodyWaitsForSlotsOfATierThatHeCannotWrite) {
  open({2, 1}, early());
  os::FaultRules faults(*os::parse_fault_rules("fallocate:tier1:ENOSPC"));
  test_support::InstalledHooks installed(faults);
  announce(1, id(1), 2, 2);
  announce(2, id(1), 2, 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto mine = write(1, id(1), 0);
  ASSERT_EQ(grant(2, id(1)).kind, Kind::granted);
  EXPECT_EQ(grant(1, id(1)).kind, Kind::wait);
  const auto refused = grant(1, id(1), {0});
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.error.code, PERDURE_NO_SPACE);
  EXPECT_EQ(grant(1, id(1), {0, 1}).error.cause, "no tier can be written: it burns");
  flush(id(1), chunk_in(mine, 0));
  EXPECT_EQ(grant(1, id(1), {0}).kind, Kind::refused);
}

TEST_F(NodeStateCapture, ASlotThatIsGivenBackIsWaitedForByNobodyAndFreeForOthers) {
  open({1}, early());
  announce(1, id(1), 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto slot = grant(1, id(1)).address;
  EXPECT_EQ(grant(1, id(1)).kind, Kind::wait);
  core->writes.give_back(2, {id(1), slot.tier, slot.slot});
  core->writes.give_back(1, {id(2), slot.tier, slot.slot});
  EXPECT_EQ(used(0), 1u) << "it is neither another client's nor another version's";
  core->writes.give_back(1, {id(1), slot.tier, slot.slot});
  EXPECT_EQ(used(0), 0u);
  EXPECT_EQ(grant(1, id(1), {0}).kind, Kind::refused);
  const auto again = write(1, id(1), 0);
  core->writes.give_back(1, {id(1), again.tier, again.slot});
  EXPECT_EQ(used(0), 1u) << "it is written";
}

TEST_F(NodeStateCapture, OfAVersionWhoseOnlySlotIsGivenBackNothingStays) {
  open({1});
  const auto slot = grant(1, id(1)).address;
  ASSERT_NE(core->tracked().find(id(1)), nullptr);
  core->writes.give_back(1, {id(1), slot.tier, slot.slot});
  EXPECT_EQ(core->tracked().find(id(1)), nullptr);
}

TEST_F(NodeStateCapture, WhoHasStagedHisPieceWantsNoMoreSlots) {
  open({2}, early());
  announce(1, id(1), 1, 2);
  announce(2, id(1), 1, 2);
  for (const ClientId client : {1, 2}) {
    EXPECT_TRUE(core->captures.slots_wanted());
    const auto slot = write(client, id(1), 0);
    ASSERT_TRUE(stage_slots(client, id(1), {slot}, 2));
  }
  EXPECT_FALSE(core->captures.slots_wanted());
}

TEST_F(NodeStateCapture, ContradictionsAreFlushedAfterTheCommitOnly) {
  open({1}, early());
  announce(1, id(1), 2, 2);
  announce(2, id(1), 2, 3);
  EXPECT_EQ(core->captures.next_write_through(), std::nullopt);
  EXPECT_EQ(taken_reports().size(), 1u);
}

TEST_F(NodeStateCapture, WhatIsCompleteIsNotContradicted) {
  open({1}, early());
  announce(1, id(1), 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto slot = write(1, id(1), 0);
  announce(1, id(1), 3);
  EXPECT_EQ(taken_reports().size(), 1u);
  std::size_t seen = 0;
  EXPECT_EQ(core->captures.news(id(1), seen).written.size(), 1u);
  flush(id(1), chunk_in(slot, 0));
  write(1, id(1), 1);
}

TEST_F(NodeStateCapture, ASlotIsUsedAgainOnceItsChunkIsInTheSegmentAndOnlyWhenItIsNeeded) {
  open({2}, early());
  announce(1, id(1), 3);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto first = write(1, id(1), 0), second = write(1, id(1), 1);
  EXPECT_EQ(grant(1, id(1)).kind, Kind::wait);
  flush(id(1), chunk_in(first, 0));
  EXPECT_EQ(used(0), 2u) << "nobody asked";
  const auto third = write(1, id(1), 2);
  EXPECT_EQ(third, first);
  ASSERT_TRUE(stage_slots(1, id(1), {first, second, third}));
  const auto& chunks = core->find(id(1))->pieces.at(0).chunks;
  EXPECT_EQ(chunks[0].place, catalog::kInTemporarySegment);
  EXPECT_EQ(chunks[0].offset, 4096u);
  EXPECT_EQ(chunks[1].place, 0u);
  EXPECT_EQ(chunks[2].place, 0u);
  const auto held = core->held.inventory("app");
  ASSERT_EQ(held.size(), 1u);
  EXPECT_TRUE(held[0].held.empty());
  EXPECT_EQ(held[0].spilled, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(core->held.locate(2, id(1), 0)) << "by who can read the temporary segment";
}

TEST_F(NodeStateCapture, OfAPieceThatIsCompleteTheCatalogSaysFirstThatAChunkMoved) {
  open({2}, early());
  announce(1, id(1), 1, 2);
  announce(2, id(1), 2, 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto first = write(1, id(1), 0), second = write(2, id(1), 0);
  ASSERT_TRUE(core->flushes.note_begun(id(1), {{0, 1, {0, 1}, false}}));
  ASSERT_TRUE(stage_slots(1, id(1), {first}, 2));
  flush(id(1), chunk_in(first, 0));
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:catalog:ENOSPC"));
    test_support::InstalledHooks installed(faults);
    EXPECT_EQ(grant(2, id(1)).kind, Kind::refused);
    EXPECT_EQ(core->find(id(1))->pieces.at(0).chunks[0].place, 0u);
    EXPECT_EQ(used(0), 2u);
  }
  const auto third = write(2, id(1), 1);
  EXPECT_EQ(third, first);
  ASSERT_TRUE(stage_slots(2, id(1), {second, third}, 2));
  open({2}, early());
  EXPECT_TRUE(core->find(id(1))->spilled(0));
  EXPECT_TRUE(core->find(id(1))->restorable(1));
  EXPECT_EQ(used(0), 2u);
}

TEST_F(NodeStateCapture, ASlotThatAFlushReadsIsNotGivenToAnybody) {
  open({1}, early());
  announce(1, id(1), 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto slot = write(1, id(1), 0);
  const auto started = core->flushes.chunk_begins(id(1), chunk_in(slot, 0));
  ASSERT_TRUE(started);
  ASSERT_TRUE(core->held.abort(1, id(1)));
  EXPECT_EQ(used(0), 1u);
  EXPECT_EQ(grant(2, id(2)).kind, Kind::wait) << "it comes";
  EXPECT_EQ(grant(2, id(2), {0}).kind, Kind::refused);
  core->flushes.chunk_ended(id(1), chunk_in(slot, 0), *started, true, true);
  EXPECT_EQ(used(0), 0u);
  EXPECT_FALSE(core->flushes.chunk_begins(id(1), chunk_in(slot, 0))) << "it is not there any more";
}

TEST_F(NodeStateCapture, ARankThatEndsTakesTheCaptureWithItAndTheOthersAreTold) {
  open({1}, early());
  announce(1, id(1), 1, 2);
  announce(2, id(1), 1, 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto slot = write(1, id(1), 0);
  flush(id(1), chunk_in(slot, 0));
  core->client_gone(2);
  std::size_t seen = 0;
  EXPECT_EQ(core->captures.news(id(1), seen).state, CaptureNews::State::over);
  const auto refused = grant(1, id(1));
  EXPECT_EQ(refused.kind, Kind::granted) << "the flushed slot is free for whom it may concern";
  EXPECT_FALSE(stage_slots(1, id(1), {slot}, 2));
  EXPECT_FALSE(core->flushes.attempt_over(id(1))) << "nobody needs what was written";
  core->client_gone(1);
  EXPECT_EQ(used(0), 0u);
}

TEST_F(NodeStateCapture, APieceThatIsNotWhatWasAnnouncedOrWrittenIsRefused) {
  open({2}, early(DuringCapture::always));
  announce(1, id(1), 2);
  const auto first = write(1, id(1), 0), second = write(1, id(1), 1);
  EXPECT_FALSE(stage_slots(1, id(1), {first}));
  EXPECT_FALSE(stage_slots(1, id(1), {second, first}));
  auto other_hash = staged(id(1), {first, second});
  other_hash.piece.chunks[1].hash = {};
  EXPECT_FALSE(core->held.stage(1, other_hash));
  EXPECT_TRUE(stage_slots(1, id(1), {first, second}));
}

TEST_F(NodeStateCapture, WhatMovedIsTiedToTheSegmentsThatWereBegun) {
  open({1}, early());
  announce(1, id(1), 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  ASSERT_TRUE(core->flushes.note_begun(id(1), {{0, 1, {0}, false}}));
  const auto first = write(1, id(1), 0);
  flush(id(1), chunk_in(first, 0));
  const auto second = write(1, id(1), 1);
  ASSERT_TRUE(stage_slots(1, id(1), {first, second}));
  const auto refused = core->held.commit({id(1), {{0, 2, {0}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
  EXPECT_TRUE(core->flushes.attempt_over(id(1))) << "the first chunk is nowhere else";
  core->captures.write_through_over(id(1), std::nullopt);
  open({1}, early());
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  ASSERT_EQ(core->flushes.next(), id(1));
  const auto view = core->flushes.begin_attempt(id(1));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->pieces.at(0).chunks[0].place, catalog::kInTemporarySegment);
  EXPECT_EQ(core->flushes.next_leftover(), std::nullopt);
}

TEST_F(NodeStateCapture, WhatAnAttemptWroteIsNeededOnceAChunkHasLeftItsSlot) {
  open({2}, early());
  announce(1, id(1), 3);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  const auto first = write(1, id(1), 0);
  write(1, id(1), 1);
  EXPECT_FALSE(core->flushes.attempt_over(id(1)));
  flush(id(1), chunk_in(first, 0));
  ASSERT_EQ(write(1, id(1), 2), first);
  EXPECT_TRUE(core->flushes.attempt_over(id(1)));
}

TEST_F(NodeStateCapture, SegmentsThatWereBegunForNothingAreLeftoversUntilTheyAreGone) {
  open({1}, early());
  announce(1, id(1), 2);
  ASSERT_EQ(core->captures.next_write_through(), id(1));
  ASSERT_TRUE(core->flushes.note_begun(id(1), {{0, 1, {0}, false}}));
  EXPECT_FALSE(core->flushes.next_leftover());
  open({1}, early());
  const auto left = core->flushes.next_leftover();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->id, id(1));
  ASSERT_TRUE(core->flushes.note_begun(id(1), {}));
  EXPECT_FALSE(core->flushes.next_leftover());
}

TEST_F(NodeStateCapture, SlotsOfAVersionThatIsBeingRestoredStay) {
  open({1}, early());
  ASSERT_TRUE(checkpoint(1));
  ASSERT_EQ(core->flushes.next(), id(1));
  const auto& chunk = core->find(id(1))->pieces.at(0).chunks[0];
  flush(id(1), {{0, 0}, {chunk.place, chunk.offset}, 4096, kChunk});
  ASSERT_TRUE(core->held.locate(7, id(1), 0));
  EXPECT_EQ(grant(2, id(2)).kind, Kind::wait);
  core->held.unpin(7);
  EXPECT_EQ(grant(2, id(2)).kind, Kind::granted);
  EXPECT_TRUE(core->find(id(1))->spilled(0));
}

TEST_F(NodeStateCapture, VersionsOfANameArePublishedInTheOrderOfTheirCommits) {
  open({9}, early(DuringCapture::always));
  ASSERT_TRUE(checkpoint(1));
  announce(1, id(2), 1);
  ASSERT_EQ(core->captures.next_write_through(), id(2));
  const auto slot = write(1, id(2), 0);
  ASSERT_TRUE(stage_slots(1, id(2), {slot}));
  ASSERT_TRUE(core->held.commit(commit_of(id(2))));
  ASSERT_TRUE(checkpoint(3));
  EXPECT_FALSE(core->flushes.may_be_published(id(2)));
  ASSERT_EQ(core->flushes.next(), id(1));
  store(1);
  EXPECT_TRUE(core->flushes.may_be_published(id(2)));
  EXPECT_EQ(core->flushes.next(), std::nullopt) << "version 3 waits for 2, which is flushed by another thread";
  ASSERT_TRUE(core->flushes.segment_stored(id(2), 0));
  core->flushes.succeeded(id(2), kChunk, 1);
  EXPECT_NE(core->captures.find(id(2)), nullptr);
  core->captures.write_through_over(id(2), std::nullopt);
  EXPECT_EQ(core->captures.find(id(2)), nullptr) << "it would stay as long as its version";
  EXPECT_EQ(core->flushes.next(), id(3));
}

}  // namespace
}  // namespace perdure::engine
