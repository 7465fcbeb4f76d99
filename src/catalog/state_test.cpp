// Tests the content of a node as a fold over records.
#include "catalog/state.hpp"

#include <gtest/gtest.h>

#include "support/sample_records.hpp"
#include "support/sanitized.hpp"

namespace perdure::catalog {
namespace {

using test_support::described;
using test_support::fold;
using test_support::sample_id;
using test_support::sample_stage;

const segment::VersionId kId = sample_id(1);

TEST(State, AStagedVersionIsHeldAndACommitMakesItCommitted) {
  State state = fold({sample_stage(kId, 0, 2)});
  ASSERT_TRUE(state.versions.contains(kId));
  EXPECT_FALSE(state.versions[kId].committed);
  EXPECT_EQ(state.versions[kId].ranks, 2U);
  EXPECT_EQ(state.versions[kId].bytes(), 5000U);
  EXPECT_TRUE(state.versions[kId].restorable(0));
  EXPECT_FALSE(state.versions[kId].restorable(1));
  state.apply(CommitRecord{kId, {{0, 1, {0}, false}}});
  EXPECT_TRUE(state.versions[kId].committed);
}

TEST(State, AVersionIsStoredWhenEverySegmentIs) {
  State state = fold({sample_stage(kId, 0, 2), CommitRecord{kId, {{0, 2, {0}, false}, {1, 2, {1}, false}}}});
  EXPECT_FALSE(state.versions[kId].all_stored());
  state.apply(StoredRecord{kId, 1});
  EXPECT_FALSE(state.versions[kId].all_stored());
  state.apply(StoredRecord{kId, 7});  // no such segment
  EXPECT_FALSE(state.versions[kId].all_stored());
  state.apply(StoredRecord{kId, 0});
  EXPECT_TRUE(state.versions[kId].all_stored());
}

TEST(State, WhatWasStoredInAnotherIncarnationOfTheStoreIsNotStoredAnyMore) {
  State state = fold({IncarnationRecord{"nbody", 7}, sample_stage(kId, 0, 1), CommitRecord{kId, {{0, 1, {0}, false}}},
                      StoredRecord{kId, 0}, IncarnationRecord{"nbody", 7}, IncarnationRecord{"other", 8}});
  EXPECT_TRUE(state.versions[kId].all_stored());
  EXPECT_TRUE(fold(state.snapshot()).versions[kId].all_stored());
  state.apply(IncarnationRecord{"nbody", 8});
  EXPECT_FALSE(state.versions[kId].all_stored());
  EXPECT_FALSE(fold(state.snapshot()).versions[kId].all_stored());
  state.apply(StoredRecord{kId, 0});
  EXPECT_TRUE(fold(state.snapshot()).versions[kId].all_stored());
}

TEST(State, ASegmentThatTheStoreHasNoMoreIsNotStored) {
  State state = fold({sample_stage(kId, 0, 2), CommitRecord{kId, {{0, 2, {0}, false}, {1, 2, {1}, false}}},
                      StoredRecord{kId, 0}, StoredRecord{kId, 1}, GoneRecord{kId, 7}});
  EXPECT_TRUE(state.versions[kId].all_stored());
  for (int twice = 0; twice < 2; ++twice) {
    state.apply(GoneRecord{kId, 1});
    EXPECT_FALSE(state.versions[kId].all_stored());
    EXPECT_TRUE(state.versions[kId].segments[0].stored);
  }
  EXPECT_FALSE(fold(state.snapshot()).versions[kId].all_stored());
  state.apply(StoredRecord{kId, 1});
  EXPECT_TRUE(state.versions[kId].all_stored());
}

TEST(State, TheFirstIncarnationThatIsKnownTakesNothingBack) {
  const State state = fold({sample_stage(kId, 0, 1), CommitRecord{kId, {{0, 1, {0}, false}}}, StoredRecord{kId, 0},
                            IncarnationRecord{"nbody", 7}});
  EXPECT_TRUE(state.versions.at(kId).all_stored());
}

TEST(State, ACommitThatIsSaidAgainAddsSegmentsAndLeavesWhatIsStored) {
  State state =
      fold({sample_stage(kId, 0, 3), CommitRecord{kId, {{0, 3, {0}, false}, {1, 3, {1}, false}}}, StoredRecord{kId, 0},
            CommitRecord{kId, {{0, 3, {7}, false}, {1, 3, {9}, false}, {2, 3, {2}, false}}}});
  EXPECT_EQ(state.versions[kId].segments,
            (std::vector<LocalSegment>{{0, 3, {0}, true}, {1, 3, {9}, false}, {2, 3, {2}, false}}));
  EXPECT_EQ(fold(state.snapshot()).versions[kId].segments, state.versions[kId].segments);
}

TEST(State, AVersionThatIsNotCommittedIsNeverStored) {
  State state = fold({sample_stage(kId, 0, 1)});
  EXPECT_FALSE(state.versions[kId].all_stored());
}

TEST(State, RecordsAboutVersionsThatAreNotHeldHaveNoEffect) {
  const State state = fold({CommitRecord{kId, {{0, 1, {0}, false}}}, StoredRecord{kId, 0},
                            QuarantineRecord{kId, 0, 0, "why"}, DropRecord{kId}});
  EXPECT_TRUE(state.versions.empty());
}

TEST(State, AttemptsAtOneVersionAreKeptApart) {
  segment::VersionId other = kId;
  other.attempt.nonce += 1;
  State state = fold({sample_stage(kId, 0, 1), sample_stage(other, 0, 1), DropRecord{kId}});
  EXPECT_FALSE(state.versions.contains(kId));
  EXPECT_TRUE(state.versions.contains(other));
}

TEST(State, AQuarantinedChunkTakesItsRankAndNoOther) {
  State state = fold({sample_stage(kId, 0, 2), sample_stage(kId, 1, 2), QuarantineRecord{kId, 1, 0, "why"}});
  EXPECT_TRUE(state.versions[kId].restorable(0));
  EXPECT_FALSE(state.versions[kId].restorable(1));
}

TEST(State, ASnapshotKnowsWhatIsQuarantined) {
  const State state = fold({sample_stage(kId, 0, 2), sample_stage(kId, 1, 2), QuarantineRecord{kId, 1, 1, "why"}});
  const HeldVersion again = fold(state.snapshot()).versions.at(kId);
  EXPECT_EQ(again.quarantined, state.versions.at(kId).quarantined);
  EXPECT_TRUE(again.restorable(0));
  EXPECT_FALSE(again.restorable(1));
}

TEST(State, AChunkThatMovedIsHeldButCannotBeRestoredFromHere) {
  State state = fold({sample_stage(kId, 0, 2), sample_stage(kId, 1, 2), SpilledRecord{kId, 1, {{0, 8192}, {77, 1}}}});
  const HeldVersion& held = state.versions[kId];
  EXPECT_TRUE(held.restorable(0));
  EXPECT_FALSE(held.spilled(0));
  EXPECT_FALSE(held.restorable(1));
  EXPECT_TRUE(held.spilled(1));
  EXPECT_TRUE(held.any_spilled());
  EXPECT_EQ(held.pieces.at(1).chunks[0].place, kInTemporarySegment);
  EXPECT_EQ(held.pieces.at(1).chunks[0].offset, 8192U);
  state.apply(QuarantineRecord{kId, 1, 0, "why"});
  EXPECT_FALSE(held.spilled(1));
}

TEST(State, AChunkThatMovedDoesNotGoWithItsTier) {
  State state = fold({TierRecord{0, "memory", 1}, sample_stage(kId, 0, 1),
                      SpilledRecord{kId, 0, {{0, 4096}, {1, 8192}}}, TierRecord{0, "memory", 2}});
  EXPECT_TRUE(state.versions[kId].spilled(0));
}

// This holds beyond a drop: the node that dropped the version may have died before the files were removed.
TEST(State, WhatWasBegunIsOursUntilItIsSaidToBeGone) {
  const std::vector<LocalSegment> segments{{0, 2, {0}, false}, {1, 2, {1}, false}};
  State state = fold({BegunRecord{kId, segments}, BegunRecord{sample_id(2), segments}});
  EXPECT_TRUE(state.versions.empty());
  state.apply(DropRecord{kId});
  EXPECT_EQ(state.begun.size(), 2U);
  EXPECT_EQ(state.begun.at(kId), segments);
  state.apply(BegunRecord{kId, {}});
  EXPECT_FALSE(state.begun.contains(kId));
  EXPECT_EQ(state.begun.size(), 1U);
}

TEST(State, ATierThatComesUpAnewLosesItsPiecesAndOnlyThose) {
  State state = fold({TierRecord{0, "memory", 1}, TierRecord{1, "file", 1}, sample_stage(kId, 0, 2, 0),
                      sample_stage(kId, 1, 2, 1), sample_stage(sample_id(2), 0, 1, 0)});
  state.apply(TierRecord{1, "file", 1});  // the same as before
  EXPECT_EQ(state.versions.size(), 2U);
  state.apply(TierRecord{0, "memory", 2});
  ASSERT_EQ(state.versions.size(), 1U);
  EXPECT_FALSE(state.versions[kId].pieces.contains(0));
  EXPECT_TRUE(state.versions[kId].pieces.contains(1));
}

TEST(State, ATierOfAnotherNameUnderTheSameNumberIsAnotherTier) {
  const State state = fold({TierRecord{0, "memory", 1}, sample_stage(kId, 0, 1), TierRecord{0, "file", 1}});
  EXPECT_TRUE(state.versions.empty());
}

TEST(State, WhatIsKeptForOthersStaysWhenTheOwnPiecesGo) {
  const State state = fold({sample_stage(kId, 0, 1), RedundancyRecord{test_support::sample_redundancy_set(kId, 5)},
                            ReachedRecord{{kId, 5}}, DropRecord{kId}});
  ASSERT_TRUE(state.redundancy_sets.contains({kId, 5}));
  EXPECT_TRUE(state.redundancy_sets.at({kId, 5}).reached);
  EXPECT_TRUE(fold({RedundancyRecord{test_support::sample_redundancy_set(kId, 5)}, DropRedundancyRecord{{kId, 5}}})
                  .redundancy_sets.empty());
}

TEST(State, RedundancyThatMissesABlockHasNotReachedItsLevel) {
  const auto redundancy =
      RedundancyRecord{test_support::sample_redundancy_set(kId, 5, 1)};  // one of two blocks on tier 1
  State state =
      fold({TierRecord{1, "file", 42}, redundancy, ReachedRecord{{kId, 5}}, BadBlockRecord{{kId, 5}, {4, 0}, ""}});
  EXPECT_FALSE(state.redundancy_sets.at({kId, 5}).reached);
  EXPECT_EQ(state.redundancy_sets.at({kId, 5}).kept.size(), 1U);
  state = fold({TierRecord{1, "file", 42}, redundancy, ReachedRecord{{kId, 5}}, TierRecord{1, "file", 43}});
  EXPECT_FALSE(state.redundancy_sets.at({kId, 5}).reached);
  EXPECT_EQ(state.redundancy_sets.at({kId, 5}).kept.size(), 1U);
  state = fold({redundancy, ReachedRecord{{kId, 5}}, BadBlockRecord{{kId, 5}, {99, 0}, ""}});
  EXPECT_TRUE(state.redundancy_sets.at({kId, 5}).reached) << "it never had that block";
}

TEST(State, EncodedAgainItIsReachedAgainOnlyWhenThatIsSaid) {
  const auto redundancy = RedundancyRecord{test_support::sample_redundancy_set(kId, 5)};
  EXPECT_FALSE(fold({redundancy, ReachedRecord{{kId, 5}}, redundancy}).redundancy_sets.at({kId, 5}).reached);
  EXPECT_EQ(fold({redundancy, RedundancyRecord{test_support::sample_redundancy_set(kId, 6)}}).redundancy_sets.size(),
            2U);
}

TEST(State, EncodedAgainNothingOfItIsWhereItCannotBeReached) {
  const auto redundancy = RedundancyRecord{test_support::sample_redundancy_set(kId, 5)};
  const RedundancyId id{kId, 5};
  State state = fold({redundancy});
  auto& kept = state.redundancy_sets.at(id).kept;
  state.unreachable_blocks[id].blocks.insert(kept.extract(kept.begin()));
  state.apply(redundancy);
  EXPECT_TRUE(state.unreachable_blocks.empty());
  state.apply(ReachedRecord{id});
  EXPECT_TRUE(state.redundancy_sets.at(id).reached);
}

TEST(State, WhichNodesAVersionWasCapturedOnIsKnownUntilItIsCommitted) {
  using test_support::captured_on;
  const std::vector<std::uint64_t> nodes = {7, 9};
  State state;
  state.apply(captured_on(sample_stage(kId, 0, 2), nodes));
  state.apply(sample_stage(kId, 1, 2));
  EXPECT_EQ(state.versions.at(kId).nodes, nodes) << "the first piece said it for all";
  EXPECT_EQ(fold(state.snapshot()), state);
  state.apply(CommitRecord{kId, {{0, 1, {0, 1}, false}}});
  EXPECT_TRUE(state.versions.at(kId).nodes.empty());
  state.apply(captured_on(sample_stage(kId, 1, 2), nodes));
  EXPECT_TRUE(state.versions.at(kId).nodes.empty()) << "its outcome is known";
  EXPECT_EQ(fold(state.snapshot()), state);
}

TEST(State, ASnapshotRebuildsAnyState) {
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(200U, 20U); ++seed) {
    std::mt19937_64 random(seed);
    State state;
    for (int i = 0; i < 40; ++i) {
      state.apply(test_support::random_record(random));
      // Compares the states, not their snapshots, which would hide omissions of a snapshot.
      ASSERT_TRUE(fold(state.snapshot()) == state) << "seed " << seed << " step " << i << ": " << described(state);
    }
  }
}

TEST(State, ARecordThatIsAppliedTwiceHasTheEffectOfOne) {
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(50U, 20U); ++seed) {
    std::mt19937_64 random(seed);
    State once, twice;
    for (int i = 0; i < 40; ++i) {
      const Record record = test_support::random_record(random);
      once.apply(record);
      twice.apply(record);
      twice.apply(record);
    }
    EXPECT_EQ(described(once), described(twice)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace perdure::catalog
