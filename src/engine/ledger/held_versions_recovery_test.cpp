// Tests what a node exports after a loss, takes in from others, and how long it keeps redundancy for them.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/field_codec.hpp"
#include "base/json.hpp"
#include "engine/ledger/redundancy_share.hpp"
#include "engine/ledger/redundancy_testing.hpp"
#include "ipc/messages.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

class Recovering : public RedundancyFixture {
 protected:
  static constexpr ClientId kLeader = 7;
  /// Stages a piece of this rank in slots that were taken for it.
  segment::Piece fetched(std::uint64_t version, std::uint32_t rank, std::size_t chunks = 1) {
    std::vector<tier::SlotAddress> slots;
    while (slots.size() < chunks) slots.push_back(take(version));
    return staged(id(version), slots, rank).piece;
  }
  bool keep_of(std::uint64_t version, std::uint32_t ranks, std::uint64_t epoch = 1) {
    auto kept = redundancy_set(version, {take(version)}, epoch);
    kept.ranks = ranks;
    return core->redundancy.keep(kept).has_value();
  }
  /// Keeps a version that position 0 of its group holds here, and a block for it.
  bool keep_whole(std::uint64_t version) {
    if (!checkpoint(version)) return false;
    auto kept = redundancy_set(version, {take(version)});
    kept.position = 0;
    return core->redundancy.keep(kept).has_value();
  }
  std::vector<std::uint64_t> promised() const { return core->redundancy.promised_ns("app"); }
  /// The store refuses it, and its flush is given up.
  void give_up(std::uint64_t version) {
    core->flushes.failed(id(version), {PERDURE_NO_SPACE, "store", "it is full", "", false}, true);
  }
};

TEST_F(Recovering, WhatIsExportedStaysUntilTheLeaderIsDone) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  core->held.pin(kLeader, id(1));
  const auto exported = core->held.export_pieces(id(1));
  ASSERT_EQ(exported.pieces.size(), 1U);
  EXPECT_EQ(exported.pieces[0].piece, core->find(id(1))->pieces.at(0));
  ASSERT_EQ(exported.pieces[0].slots.size(), 1U);
  EXPECT_EQ(exported.pieces[0].slots[0], core->address(exported.pieces[0].piece.chunks[0]));
  (void)take(2);
  EXPECT_FALSE(core->room.take_for_redundancy(id(2), kChunk)) << "it is read by peers";
  core->held.unpin(kLeader);
  EXPECT_TRUE(core->room.take_for_redundancy(id(2), kChunk));
}

TEST_F(Recovering, WhatALeaderWasLentIsFreeWhenItsConnectionEnds) {
  open({1});
  ASSERT_TRUE(checkpoint(1));
  store(1);
  core->held.pin(kLeader, id(1));
  EXPECT_FALSE(core->room.take_for_redundancy(id(2), kChunk));
  core->client_gone(kLeader);
  EXPECT_TRUE(core->room.take_for_redundancy(id(2), kChunk));
}

TEST_F(Recovering, AQuarantinedChunkIsNamedAndNotLent) {
  open({2});
  const auto first = grant(1, id(1)).address, second = grant(1, id(1)).address;
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {first, second})));
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 1, "its hash is wrong"}));
  const auto exported = core->held.export_pieces(id(1));
  ASSERT_EQ(exported.pieces.size(), 1U);
  EXPECT_EQ(exported.pieces[0].piece.chunks.size(), 2U);
  EXPECT_THAT(exported.pieces[0].slots, testing::ElementsAre(std::optional(first), std::nullopt));
}

TEST_F(Recovering, WhatIsKeptIsLentOfAllEpochsAndOfNoOtherVersion) {
  open({4});
  ASSERT_TRUE(keep_one(1, 4));
  ASSERT_TRUE(keep_one(1, 9));
  ASSERT_TRUE(keep_one(2, 4));
  const auto exported = core->held.export_pieces(id(1));
  EXPECT_TRUE(exported.pieces.empty());
  ASSERT_EQ(exported.redundancy_sets.size(), 2U);
  EXPECT_EQ(exported.redundancy_sets[0].id, protection_id(1, 4));
  EXPECT_EQ(exported.redundancy_sets[1].id, protection_id(1, 9));
  EXPECT_TRUE(core->held.export_pieces(id(3)).redundancy_sets.empty());
}

TEST_F(Recovering, AFetchedPieceIsLikeOneThatARankStaged) {
  open({3});
  const auto piece = fetched(1, 2, 2);
  ASSERT_TRUE(core->held.adopt(id(1), 4, piece));
  ASSERT_NE(core->find(id(1)), nullptr);
  EXPECT_TRUE(core->find(id(1))->restorable(2));
  EXPECT_EQ(core->find(id(1))->ranks, 4U);
  for (const auto& chunk : piece.chunks) core->room.give_back({chunk.place, chunk.offset});
  EXPECT_EQ(used(0), 2U) << "its slots are the version's now";
  ASSERT_TRUE(core->held.commit({id(1), {{0, 1, {2}}}}));
  EXPECT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), {PERDURE_NO_SPACE, "store", "full", "", true}, false);
  open({3});
  EXPECT_TRUE(core->find(id(1))->restorable(2));
  EXPECT_EQ(used(0), 2U);
  store(1);
  for (int i = 0; i < 3; ++i) (void)take(2);
  EXPECT_EQ(core->find(id(1)), nullptr) << "its slots count as its own: they made room";
}

// Ranks of a lost node run here now, beside those that were here before.
TEST_F(Recovering, ANodeCanHaveMoreOfAVersionToWriteThanBefore) {
  open({3});
  const auto own = grant(1, id(1)).address;
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {own})));
  ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}}}));
  store(1);
  ASSERT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_EQ(core->held.commit({id(1), {{1, 2, {1}}}}).error().code, PERDURE_INCOMPLETE) << "its piece is not here";
  ASSERT_TRUE(core->held.adopt(id(1), 2, fetched(1, 1)));
  ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}, {1, 2, {1}}}}));
  EXPECT_FALSE(core->find(id(1))->all_stored());
  EXPECT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), {PERDURE_NO_SPACE, "store", "full", "", true}, false);
  open({3});
  const auto& segments = core->find(id(1))->segments;
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0], (catalog::LocalSegment{0, 2, {0}, true})) << "what is stored stays stored";
  EXPECT_EQ(segments[1], (catalog::LocalSegment{1, 2, {1}, false}));
  EXPECT_EQ(core->flushes.next(), id(1));
}

// Each rank of a node commits what all agreed on.
TEST_F(Recovering, ACommitThatSaysWhatIsKnownChangesNothingUnlessItsFlushWasGivenUp) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  const auto log_bytes = [&] { return std::filesystem::file_size(directory / "catalog"); };
  const auto before = log_bytes();
  ASSERT_EQ(core->flushes.next(), id(1));
  core->flushes.failed(id(1), {PERDURE_NO_SPACE, "store", "full", "", true}, false);
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  EXPECT_EQ(log_bytes(), before);
  EXPECT_EQ(core->version(id(1))->flush, FlushPhase::waiting) << "who waits after a failure goes on waiting";
  core->flushes.failed(id(1), {PERDURE_NO_SPACE, "store", "full", "", true}, true);
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  EXPECT_EQ(core->flushes.next(), id(1));
}

/// A tier whose slots have long addresses; that of the first slot is the shortest.
class LongAddresses : public tier::Tier {
 public:
  LongAddresses(std::unique_ptr<tier::Tier> tier, std::size_t path_bytes, std::size_t access_bytes)
      : tier_(std::move(tier)), path_bytes_(path_bytes), access_bytes_(access_bytes) {}
  const tier::Properties& properties() const override { return tier_->properties(); }
  std::uint64_t incarnation() const override { return tier_->incarnation(); }
  bool has_free(std::uint64_t bytes) const override { return tier_->has_free(bytes); }
  bool can_hold(std::uint64_t bytes) override { return tier_->can_hold(bytes); }
  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner) override {
    return tier_->acquire(bytes, owner);
  }
  void release(std::uint64_t slot) override { tier_->release(slot); }
  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override { return tier_->adopt(slot, bytes); }
  tier::SlotAddress address(std::uint64_t slot) const override {
    const std::uint64_t far = std::uint64_t{1} << 40;
    return {0,
            slot,
            std::string(path_bytes_ + (slot == 0 ? 0 : 12), 'p'),
            far,
            far,
            true,
            true,
            std::string(access_bytes_, 'a')};
  }
  tier::Usage usage() const override { return tier_->usage(); }
  std::uint64_t capacity(std::uint64_t bytes) const override { return tier_->capacity(bytes); }
  std::vector<tier::Reserved> reserve(const std::vector<std::uint64_t>& bytes, std::uint64_t owner) override {
    return tier_->reserve(bytes, owner);
  }
  void disown(std::uint64_t owner) override { tier_->disown(owner); }
  base::Status remove_all() override { return tier_->remove_all(); }

 private:
  std::unique_ptr<tier::Tier> tier_;
  std::size_t path_bytes_, access_bytes_;
};

class LocatingSlots : public Recovering {
 protected:
  static constexpr std::size_t kSlots = 16;
  /// Stages a piece in all slots, and sets `told` to the length of their names in a message.
  base::Status stage_with(std::size_t path_bytes, std::size_t access_bytes, std::uint64_t version) {
    close();
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    auto real = tier::make_tier("file", {0, directory / ("tier" + std::to_string(version)), kChunk, kSlots * kChunk});
    tiers.push_back(std::make_unique<LongAddresses>(std::move(*real), path_bytes, access_bytes));
    make(std::move(tiers), {});
    EXPECT_TRUE(core->recover());
    std::vector<tier::SlotAddress> slots;
    while (slots.size() < kSlots) slots.push_back(grant(1, id(version)).address);
    const auto stage = staged(id(version), slots);
    ipc::Located located{stage.piece, {}, {}};
    for (const auto& slot : slots)
      located.slots.push_back(
          {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access});
    told = base::encode_fields(located).size();
    return core->held.stage(1, stage);
  }
  std::size_t told = 0;
};

TEST_F(LocatingSlots, ThatNoMessageCanNameAreRefusedWhenTheyAreStaged) {
  constexpr std::size_t kHalf = ipc::kMaxFrame / kSlots / 2;
  const auto fitting = stage_with(kHalf, kHalf - 200, 1);
  EXPECT_TRUE(fitting) << fitting.error().text();
  ASSERT_LT(told, ipc::kMaxFrame);
  const std::size_t spare = (ipc::kMaxFrame - told) / kSlots;
  const auto refused = stage_with(kHalf, kHalf - 200 + spare + 1, 2);
  ASSERT_GT(told, ipc::kMaxFrame) << "by less than a byte for each slot";
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("chunks at a restore"));
}

// "Not held" would mean that this node has nothing to write.
TEST_F(Recovering, ASegmentThatLacksAPieceIsToldFromAVersionThatIsNotHeld) {
  open({4});
  EXPECT_EQ(core->held.commit({id(1), {{0, 3, {0}}}, true}).error().code, PERDURE_NOT_FOUND);
  ASSERT_TRUE(core->held.adopt(id(1), 3, fetched(1, 0)));
  EXPECT_EQ(core->held.commit({id(1), {{0, 3, {0}}, {1, 3, {1}}}, true}).error().code, PERDURE_INCOMPLETE);
  EXPECT_FALSE(core->find(id(1))->committed) << "a capture of which a piece is missing";
  ASSERT_TRUE(core->held.commit({id(1), {{0, 3, {0}}}, true}));
  ASSERT_TRUE(core->held.adopt(id(1), 3, fetched(1, 2)));
  const auto status = core->held.commit({id(1), {{0, 3, {0}}, {1, 3, {1}}, {2, 3, {2}}}, true});
  EXPECT_EQ(status.error().code, PERDURE_INCOMPLETE);
  EXPECT_THAT(status.error().text(), testing::HasSubstr("segment 1"));
  ASSERT_EQ(core->find(id(1))->segments.size(), 2U) << "what can be written is";
  EXPECT_EQ(core->find(id(1))->segments[1].index, 2U);
}

TEST_F(Recovering, ACommitThatTheCatalogCouldNotTakeYetHidesNoneThatAddsSegments) {
  open({4});
  ASSERT_TRUE(core->held.adopt(id(1), 2, fetched(1, 0)));
  ASSERT_TRUE(core->held.adopt(id(1), 2, fetched(1, 1)));
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/catalog:ENOSPC"));
    test_support::InstalledHooks installed(faults);
    ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}}, true}));
    ASSERT_TRUE(core->held.commit({id(1), {{0, 2, {0}}, {1, 2, {1}}}, true}));
    EXPECT_EQ(core->held.commit({id(1), {{0, 2, {3}}}, true}).error().code, PERDURE_INCOMPLETE);
    EXPECT_EQ(core->held.inventory("app").front().segments.size(), 2U);
  }
  EXPECT_EQ(core->flushes.next(), id(1));
  EXPECT_EQ(core->find(id(1))->segments.size(), 2U);
}

TEST_F(Recovering, AFlushThatWasGivenUpForADamagedPieceIsTriedAgainWithTheRebuiltOne) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_EQ(core->flushes.next(), id(1));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  core->flushes.failed(id(1), {PERDURE_CORRUPT, "chunk", "its hash is wrong", "", false}, true);
  ASSERT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_TRUE(core->held.inventory("app").front().segments.empty()) << "nobody may count on it";
  ASSERT_TRUE(core->held.adopt(id(1), 1, fetched(1, 0)));
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  EXPECT_EQ(core->flushes.next(), id(1));
  EXPECT_EQ(core->held.inventory("app").front().segments.size(), 1U);
}

TEST_F(Recovering, ADamagedChunkThatAFlushReadIsNotTheRebuiltOneThatIsThereNow) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  const auto read = core->find(id(1))->pieces.at(0).chunks[0];
  const ipc::Quarantine chunk{id(1), 0, 0, "its hash is wrong"};
  const base::Error error{PERDURE_CORRUPT, "chunk", "its hash is wrong", "", false};
  ASSERT_EQ(core->flushes.next(), id(1));
  ASSERT_TRUE(core->held.quarantine(chunk));
  ASSERT_TRUE(core->held.adopt(id(1), 1, fetched(1, 0)));
  EXPECT_FALSE(core->flushes.read_damage(chunk, read, error));
  EXPECT_TRUE(core->find(id(1))->restorable(0));
  ASSERT_EQ(core->flushes.next(), id(1));
  EXPECT_TRUE(core->flushes.read_damage(chunk, core->find(id(1))->pieces.at(0).chunks[0], error));
  EXPECT_FALSE(core->find(id(1))->restorable(0));
  EXPECT_EQ(core->flushes.next(), std::nullopt);
  EXPECT_FALSE(core->flushes.read_damage({id(2), 0, 0, "x"}, read, error)) << "it is not here any more";
}

// A node restarts with one of its tiers empty.
TEST_F(Recovering, ASegmentThatLostAPieceWithItsTierWaitsUntilThatIsRebuilt) {
  open({1, 3});
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto granted = grant(1, id(1));
    ASSERT_EQ(granted.address.tier, rank) << "each in a tier of its own";
    auto stage = staged(id(1), {granted.address}, rank);
    stage.ranks = 2;
    ASSERT_TRUE(core->held.stage(1, stage));
  }
  ASSERT_TRUE(core->held.commit({id(1), {{0, 1, {0, 1}}}}));
  close();
  std::filesystem::remove_all(directory / "tier0");
  open({1, 3});
  ASSERT_NE(core->find(id(1)), nullptr);
  ASSERT_EQ(core->find(id(1))->pieces.size(), 1U) << "of two";
  EXPECT_EQ(core->flushes.next(), std::nullopt);
  ASSERT_NE(core->version(id(1)), nullptr);
  EXPECT_EQ(core->version(id(1))->flush, FlushPhase::given_up);
  EXPECT_FALSE(core->find(id(1))->all_stored());
  ASSERT_TRUE(core->held.adopt(id(1), 2, fetched(1, 0)));
  ASSERT_TRUE(core->held.commit({id(1), {{0, 1, {0, 1}}}, true}));
  EXPECT_EQ(core->flushes.next(), id(1));
}

TEST_F(Recovering, SegmentsThatLackAPieceAreNotBegunAndDamagedOnesComeLast) {
  open({4});
  for (const std::uint32_t rank : {0U, 1U}) {
    auto piece = staged(id(1), {grant(1, id(1)).address}, rank);
    piece.ranks = 3;
    ASSERT_TRUE(core->held.stage(1, piece));
  }
  ASSERT_TRUE(core->held.commit({id(1), {{0, 3, {0}}, {1, 3, {1}}}}));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  auto view = core->flushes.begin_attempt(id(1));
  ASSERT_TRUE(view);
  ASSERT_EQ(view->segments.size(), 2U);
  EXPECT_EQ(view->segments[0].index, 1U);
  core->flushes.interrupted(id(1));
  EXPECT_EQ(core->flushes.next(), id(1)) << "what was interrupted is tried again";
}

TEST_F(Recovering, OnlySlotsThatWereTakenForItAreGoesOned) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  auto piece = fetched(2, 0, 2);
  piece.chunks[1].offset = core->find(id(1))->pieces.at(0).chunks[0].offset;
  EXPECT_EQ(core->held.adopt(id(2), 1, piece).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(core->find(id(2)), nullptr);
  EXPECT_EQ(used(0), 3U) << "its taker gives back what it took";
}

TEST_F(Recovering, APieceThatCanBeRestoredHereIsNotReplaced) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  const auto piece = fetched(1, 0);
  EXPECT_EQ(core->held.adopt(id(1), 1, piece).error().code, PERDURE_EXISTS);
  core->room.give_back({piece.chunks[0].place, piece.chunks[0].offset});
  EXPECT_EQ(used(0), 1U) << "it was not adopted";
}

TEST_F(Recovering, ARebuiltPieceTakesTheDamagedOnesPlace) {
  open({3});
  const auto first = grant(1, id(1)).address, second = grant(1, id(1)).address;
  ASSERT_TRUE(core->held.stage(1, staged(id(1), {first, second})));
  ASSERT_TRUE(core->held.commit(commit_of(id(1))));
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  ASSERT_FALSE(core->find(id(1))->restorable(0));
  const auto rebuilt = fetched(1, 0);
  ASSERT_TRUE(core->held.adopt(id(1), 1, rebuilt));
  EXPECT_TRUE(core->find(id(1))->restorable(0));
  EXPECT_EQ(core->find(id(1))->pieces.at(0), rebuilt);
  EXPECT_EQ(core->version(id(1))->chunks[0], 1U);
  EXPECT_EQ(used(0), 1U);
  ASSERT_TRUE(core->flushes.segment_stored(id(1), 0));
  for (int i = 0; i < 3; ++i) (void)take(2);
  EXPECT_EQ(core->find(id(1)), nullptr);
}

TEST_F(Recovering, AVersionInASlotThatNoTierHasIsGivenUpAndOthersStay) {
  open({3});
  ASSERT_TRUE(checkpoint(1));
  close();
  {  // a damaged log
    tier::SlotAddress nowhere;
    nowhere.slot = 99;
    const auto lost = staged(id(2), {nowhere});
    auto log = catalog::Catalog::open(directory.path());
    ASSERT_TRUE(log->append(catalog::StageRecord{lost.id, lost.ranks, lost.piece}));
  }
  open({3});
  EXPECT_EQ(core->find(id(2)), nullptr);
  ASSERT_NE(core->find(id(1)), nullptr);
  EXPECT_TRUE(core->find(id(1))->restorable(0));
  EXPECT_EQ(used(0), 1U);
  EXPECT_THAT(taken_reports(), testing::ElementsAre(testing::HasSubstr("app version 2")));
  open({3});
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_THAT(taken_reports(), testing::IsEmpty()) << "its records are gone";
}

TEST_F(Recovering, TheInventoryOfWhatIsKeptIsByName) {
  open({3});
  ASSERT_TRUE(keep_one(1));
  ASSERT_TRUE(keep_one(2));
  EXPECT_EQ(core->redundancy.inventory("").size(), 2U);
  EXPECT_TRUE(core->redundancy.inventory("other").empty());
  const auto kept = core->redundancy.inventory("app");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].id, id(2));
  EXPECT_EQ(kept[1].position, 1U);
}

TEST_F(Recovering, PromisedIsWhatReachedTheLevelInThisLaunch) {
  open({6});
  EXPECT_THAT(promised(), testing::IsEmpty());
  for (const std::uint64_t version : {1, 3, 2}) ASSERT_TRUE(keep_whole(version));
  EXPECT_THAT(promised(), testing::IsEmpty()) << "kept here, but perhaps nowhere else";
  ASSERT_TRUE(core->redundancy.reached(protection_id(3)));
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  EXPECT_THAT(promised(), testing::ElementsAre(1, 3)) << "2 was skipped";
  core->redundancy.in_epoch(2);
  EXPECT_THAT(promised(), testing::IsEmpty()) << "of an earlier launch: nodes may be gone since";
  core->redundancy.in_epoch(1);
  EXPECT_THAT(promised(), testing::ElementsAre(1, 3));
  EXPECT_THAT(core->redundancy.promised_ns("other"), testing::IsEmpty());
}

TEST_F(Recovering, WhatIsSupersededIsNoLongerPromisedUnlessSomebodyAsksForItInTime) {
  open({4});
  for (const std::uint64_t version : {1, 2}) {
    ASSERT_TRUE(keep_whole(version));
    ASSERT_TRUE(core->redundancy.reached(protection_id(version)));
  }
  core->redundancy.node_level_everywhere("app", 2);
  EXPECT_THAT(promised(), testing::ElementsAre(2));
  EXPECT_TRUE(core->redundancy.promise(id(1)));
  EXPECT_THAT(promised(), testing::ElementsAre(1, 2));
  core->redundancy.node_level_everywhere("app", 2);
  ASSERT_TRUE(core->redundancy.drop(protection_id(1)));
  EXPECT_FALSE(core->redundancy.promise(id(1))) << "it is gone";
}

TEST_F(Recovering, APromiseEndsWithADamagedChunkOfThisNodeOrABlockThatIsBad) {
  open({4});
  for (const std::uint64_t version : {1, 2}) {
    ASSERT_TRUE(keep_whole(version));
    ASSERT_TRUE(core->redundancy.reached(protection_id(version)));
  }
  ASSERT_TRUE(core->held.quarantine({id(1), 0, 0, "its hash is wrong"}));
  EXPECT_THAT(promised(), testing::ElementsAre(2));
  EXPECT_FALSE(core->redundancy.promise(id(1)));
  ASSERT_TRUE(core->redundancy.bad_block(protection_id(2), {0, 0}, "its hash is wrong"));
  EXPECT_THAT(promised(), testing::IsEmpty());
}

TEST_F(Recovering, WhatTheWholeGroupHasStoredIsPromisedAlsoWhenItHasLeftTheNode) {
  open({4});
  ASSERT_TRUE(keep_whole(1));
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  store(1);
  core->redundancy.group_stored(protection_id(1));
  ASSERT_TRUE(core->redundancy.drop(protection_id(1)));
  ASSERT_TRUE(core->held.drop(id(1)));
  EXPECT_THAT(promised(), testing::ElementsAre(1));
  core->redundancy.in_epoch(9);
  EXPECT_THAT(promised(), testing::IsEmpty());
  core->redundancy.in_epoch(1);
  ASSERT_TRUE(core->held.retire({"app", 1}));
  EXPECT_THAT(promised(), testing::IsEmpty()) << "it was given up";
}

// While the store fails, a version that was reported to survive a loss of nodes is not dropped for one that is only
// captured.
TEST_F(Recovering, WhatIsPromisedStaysUntilSomethingNewerIsEverywhere) {
  open({3});
  ASSERT_TRUE(keep_whole(1));
  ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  ASSERT_TRUE(checkpoint(2));
  for (const std::uint64_t version : {1, 2}) give_up(version);
  EXPECT_NE(grant(1, id(3)).kind, GrantOutcome::Kind::granted);
  ASSERT_NE(core->find(id(1)), nullptr);
  core->redundancy.in_epoch(2);
  EXPECT_NE(grant(1, id(3)).kind, GrantOutcome::Kind::granted) << "also when that was an earlier launch";
  core->redundancy.node_level_everywhere("app", 2);
  EXPECT_EQ(grant(1, id(3)).kind, GrantOutcome::Kind::granted);
}

TEST_F(Recovering, AtTheEndOnlyWhatTheStoreHasGoesOfJobsOfThatSize) {
  open({5});
  ASSERT_TRUE(keep_of(1, 3));
  ASSERT_TRUE(keep_of(2, 3, 8));
  ASSERT_TRUE(keep_of(3, 4));
  ASSERT_TRUE(keep_of(4, 3));
  EXPECT_THAT(checkpoint_names(core->redundancy.all(), 3), testing::ElementsAre("app"));
  EXPECT_THAT(checkpoint_names(core->redundancy.all(), 5), testing::IsEmpty());
  EXPECT_THAT(checkpoint_names(core->redundancy.all(), 0), testing::ElementsAre("app")) << "of any number of ranks";
  const auto none = core->redundancy.drop_stored(3, {{"other", 9}});
  ASSERT_TRUE(none);
  EXPECT_THAT(*none, testing::ElementsAre(id(1), id(2), id(4)));
  EXPECT_EQ(used(0), 4U);
  const auto left = core->redundancy.drop_stored(3, {{"app", id(2).attempt.created_ns}});
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, testing::ElementsAre(id(4))) << "the store does not have it";
  EXPECT_EQ(core->redundancy.find(protection_id(1)), nullptr);
  EXPECT_EQ(core->redundancy.find(protection_id(2, 8)), nullptr);
  EXPECT_NE(core->redundancy.find(protection_id(3)), nullptr);
  EXPECT_NE(core->redundancy.find(protection_id(4)), nullptr);
  EXPECT_EQ(used(0), 2U);
  const auto grown = core->redundancy.drop_stored(6, {{"app", id(3).attempt.created_ns, true}});
  ASSERT_TRUE(grown);
  EXPECT_THAT(*grown, testing::ElementsAre(id(4))) << "it used this name with other numbers of ranks before";
  EXPECT_EQ(core->redundancy.find(protection_id(3)), nullptr);
}

// Branch 5 belongs to the launch that ends. This node keeps redundancy of the first branch.
TEST_F(Recovering, AtTheEndWhatAnotherRunNeedsStaysAndIsNotThisLaunchsToTell) {
  open({2});
  ASSERT_TRUE(keep_of(1, 3));
  const auto ended = core->redundancy.drop_stored(3, {{"app", 99, true, {5}}});
  ASSERT_TRUE(ended);
  EXPECT_THAT(*ended, testing::IsEmpty());
  EXPECT_NE(core->redundancy.find(protection_id(1)), nullptr);
  ASSERT_TRUE(core->redundancy.drop_stored(3, {{"app", 99, true, {5}}, {"app", 1, false, {plan::kFirstBranch}}}));
  EXPECT_EQ(core->redundancy.find(protection_id(1)), nullptr) << "the store has that run's";
}

TEST_F(Recovering, OthersNeedThisNodeUntilAllHaveStoredTheirPartOrHaveSomethingNewer) {
  open({3});
  EXPECT_FALSE(core->redundancy.needed_by_others());
  ASSERT_TRUE(checkpoint(1));  // so that its redundancy stays here beyond its need
  ASSERT_TRUE(keep_one(1));
  EXPECT_TRUE(core->redundancy.needed_by_others());
  core->redundancy.group_stored(protection_id(1));
  EXPECT_FALSE(core->redundancy.needed_by_others());
  ASSERT_TRUE(keep_one(1, 2));
  EXPECT_TRUE(core->redundancy.needed_by_others()) << "of another epoch nobody said so";
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  EXPECT_FALSE(core->redundancy.needed_by_others());
  EXPECT_NE(core->redundancy.find(protection_id(1)), nullptr);
}

TEST_F(Recovering, WhatIsKeptOfAnEarlierEpochGuardsNothing) {
  open({2});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1, 4));
  store(1);
  core->redundancy.in_epoch(4);
  EXPECT_FALSE(core->room.take_for_redundancy(id(2), kChunk)) << "the others of the group need it";
  core->redundancy.in_epoch(5);
  EXPECT_TRUE(core->room.take_for_redundancy(id(2), kChunk));
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_NE(core->redundancy.find(protection_id(1, 4)), nullptr) << "its blocks stay for those who lost theirs";
}

TEST_F(Recovering, WhatNobodyNeedsGoesWithItsVersionAndStaysAsLongAsThatIsHere) {
  open({4});
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(keep_one(1));
  ASSERT_TRUE(keep_one(2));  // this node does not hold it
  ASSERT_TRUE(keep_one(3));
  core->redundancy.node_level_everywhere("app", id(3).attempt.created_ns);
  EXPECT_NE(core->redundancy.find(protection_id(1)), nullptr) << "a second choice";
  EXPECT_EQ(core->redundancy.find(protection_id(2)), nullptr);
  EXPECT_NE(core->redundancy.find(protection_id(3)), nullptr) << "the newest";
  core->redundancy.node_level_everywhere("app", id(2).attempt.created_ns);
  EXPECT_NE(core->redundancy.find(protection_id(3)), nullptr) << "what was said once holds";
}

}  // namespace
}  // namespace perdure::engine
