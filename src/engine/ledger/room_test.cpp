#include "engine/ledger/room.hpp"

#include <gtest/gtest.h>

#include "plan/lineage.hpp"

namespace perdure::engine {
namespace {

using What = Eviction::What;

class Room : public testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version, const std::string& name = "app") {
    return {name, version, {version, 1}};
  }
  RoomView::Held& hold(std::uint64_t version, Life life, FlushPhase flush = FlushPhase::queued) {
    return room.versions.emplace_back(RoomView::Held{id(version), life, flush, 1, false, false});
  }
  Eviction choose(EvictionScope scope = EvictionScope::stored, RoomWanted::For use = RoomWanted::For::slot) const {
    return choose_eviction(room, {wanted, scope, use});
  }
  void expect_version(const Eviction& chosen, std::uint64_t version) const {
    EXPECT_EQ(chosen.what, What::version);
    EXPECT_EQ(chosen.version, id(version));
  }
  RoomView room;
  segment::VersionId wanted = id(100);
};

TEST_F(Room, NothingGoesOfWhatIsNotSafeInTheStore) {
  for (const Life life : {Life::none, Life::announced, Life::staged, Life::delayed, Life::committed}) hold(1, life);
  EXPECT_EQ(choose().what, What::nothing);
}

TEST_F(Room, TheOldestThatIsStoredGoesFirstWhateverItsName) {
  hold(3, Life::stored);
  hold(2, Life::stored).id.name = "other";
  hold(1, Life::committed, FlushPhase::given_up);
  room.obsolete.push_back({{id(1), 1}, 1});
  room.chunks_to_spill = true;
  EXPECT_EQ(choose(EvictionScope::superseded).version, id(2, "other"));
}

TEST_F(Room, WhatIsReadOrNeededByOthersOrElsewhereOrWantsTheRoomItselfStays) {
  hold(1, Life::stored).pinned = true;
  hold(2, Life::stored).guarded = true;
  hold(3, Life::stored).chunks = 0;
  hold(4, Life::stored).id = wanted;
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing);
}

TEST_F(Room, NothingGoesForANewerVersionOfAnotherBranch) {
  hold(1, Life::committed, FlushPhase::given_up).id.attempt.nonce = plan::nonce_on(1, 1);
  hold(2, Life::committed).id.attempt.nonce = plan::nonce_on(2, 1);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing);
  hold(3, Life::committed).id.attempt.nonce = plan::nonce_on(1, 1);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::version);
}

TEST_F(Room, WhatIsPromisedIsNotGivenUpForWhatIsOnlyHere) {
  hold(1, Life::committed, FlushPhase::given_up).promised = true;
  hold(2, Life::committed, FlushPhase::given_up);
  hold(3, Life::committed);
  expect_version(choose(EvictionScope::superseded), 2);
}

TEST_F(Room, ThenRedundancyThatNobodyNeedsTheOldestFirst) {
  hold(1, Life::committed, FlushPhase::given_up);
  hold(2, Life::committed);
  room.obsolete = {{{wanted, 1}, 1}, {{id(3), 1}, 0}, {{id(5), 1}, 1}, {{id(4), 2}, 1}};
  room.chunks_to_spill = true;
  const auto chosen = choose(EvictionScope::superseded);
  EXPECT_EQ(chosen.what, What::redundancy);
  EXPECT_EQ(chosen.redundancy, (catalog::RedundancyId{id(4), 2}));
}

TEST_F(Room, ThenAChunkThatIsInATemporarySegmentToo) {
  hold(1, Life::committed, FlushPhase::given_up);
  hold(2, Life::committed);
  room.chunks_to_spill = true;
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::spilled_chunk);
}

TEST_F(Room, ThenWhatIsHereOfAVersionThatThisLaunchCannotHaveTheOldestFirst) {
  hold(1, Life::committed, FlushPhase::given_up);
  hold(2, Life::committed);
  hold(4, Life::staged).outcome = RoomView::Held::Outcome::awaited;
  hold(3, Life::staged).outcome = RoomView::Held::Outcome::awaited;
  EXPECT_EQ(choose().what, What::nothing);
  expect_version(choose(EvictionScope::remains), 3);
  expect_version(choose(EvictionScope::superseded), 3);
  for (auto& held : room.versions) held.pinned = held.life == Life::staged;
  EXPECT_EQ(choose(EvictionScope::remains).what, What::nothing);
  expect_version(choose(EvictionScope::superseded), 1);
}

TEST_F(Room, SoThatATierNeedNotGrowOnlyWhatIsStoredGoes) {
  room.obsolete = {{{id(1), 1}, 1}};
  room.chunks_to_spill = true;
  EXPECT_EQ(choose(EvictionScope::stored, RoomWanted::For::growth).what, What::nothing);
  hold(2, Life::stored);
  expect_version(choose(EvictionScope::stored, RoomWanted::For::growth), 2);
}

TEST_F(Room, AnOlderVersionThatCannotBeStoredGoesWhenANewerOneIsHere) {
  hold(1, Life::committed, FlushPhase::given_up);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing) << "it is the newest";
  hold(2, Life::staged);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing) << "the newer one may be aborted";
  room.versions.back().life = Life::committed;
  expect_version(choose(EvictionScope::superseded), 1);
  EXPECT_EQ(choose(EvictionScope::stored).what, What::nothing);
  room.versions.back().id.name = "other";
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing) << "of another name";
}

TEST_F(Room, WhatIsReadIsNotGivenUpForRoom) {
  hold(1, Life::committed, FlushPhase::waiting).pinned = true;
  hold(2, Life::committed);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing);
}

TEST_F(Room, WhatQueuesIsStuckOnlyBehindAStoreThatFailsAndIsNotBeingTried) {
  hold(1, Life::committed, FlushPhase::queued);
  hold(2, Life::committed, FlushPhase::waiting);
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing);
  room.store_failing = true;
  expect_version(choose(EvictionScope::superseded), 1);
  room.versions.back().flush = FlushPhase::running;
  EXPECT_EQ(choose(EvictionScope::superseded).what, What::nothing);
}

// ---- ahead of the next version

TEST_F(Room, AheadOfTheNextTheOldestOfTheNameGoesThatIsStoredAndOlder) {
  for (const std::uint64_t version : {4, 2, 3, 5}) hold(version, Life::stored);
  hold(1, Life::stored).id.name = "other";
  expect_version(choose_ahead(room, id(4)), 2);
  EXPECT_EQ(choose_ahead(room, id(2)).what, What::nothing) << "what is newer stays";
  EXPECT_EQ(choose_ahead(room, id(7)).what, What::nothing) << "it is not here";
}

TEST_F(Room, AheadOfTheNextNothingGoesThatAnybodyNeedsOrThatIsNowhereElse) {
  hold(9, Life::stored);
  hold(1, Life::stored).pinned = true;
  hold(2, Life::stored).guarded = true;
  hold(3, Life::stored).chunks = 0;
  for (const Life life : {Life::none, Life::announced, Life::staged, Life::delayed, Life::committed})
    hold(10 - room.versions.size(), life);
  hold(1, Life::committed, FlushPhase::given_up);
  EXPECT_EQ(choose_ahead(room, id(9)).what, What::nothing);
}

TEST_F(Room, AheadOfTheNextNothingGoesForAVersionThatIsNotWholeHere) {
  hold(1, Life::stored);
  hold(2, Life::stored).unreachable = 1;
  hold(3, Life::stored).chunks = 0;
  hold(4, Life::committed);
  for (const std::uint64_t version : {2, 3, 4}) EXPECT_EQ(choose_ahead(room, id(version)).what, What::nothing);
}

}  // namespace
}  // namespace perdure::engine
