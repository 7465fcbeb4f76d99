// Checks each policy's decisions in the situations that it was made for.
#include <gtest/gtest.h>

#include "placement/registry.hpp"
#include "placement/views_testing.hpp"

namespace perdure::placement {
namespace {

TEST(CacheOnly, WaitsForTheFirstTierEvenWhenOthersHaveRoom) {
  Situation s = full_cache(1e6);
  EXPECT_EQ(decide_cache_only(s.view()).reason, Reason::wait_full);
  s.tiers[0].free_slots = 1;
  EXPECT_EQ(decide_cache_only(s.view()).tier, 0u);
}

TEST(SsdOnly, TakesTheLastTierEvenWhenTheFirstHasRoom) {
  Situation s = full_cache(2e9);
  s.tiers[0].free_slots = 32;
  EXPECT_EQ(decide_ssd_only(s.view()).tier, 1u);
}

TEST(HybridNaive, TakesTheFirstTierWithRoomHoweverSlow) {
  Situation s = full_cache(50e9);
  EXPECT_EQ(decide_hybrid_naive(s.view()).tier, 1u);
  s.tiers[0].free_slots = 1;
  EXPECT_EQ(decide_hybrid_naive(s.view()).tier, 0u);
}

TEST(HybridOpt, ComparesTheTierWithOneWriterMoreWithTheFlushAggregate) {
  Situation s = full_cache(499e6);
  s.tiers[1].writers = 10;
  EXPECT_EQ(decide_hybrid_opt(s.view()).tier, 1u);
  EXPECT_EQ(decide_hybrid_opt(s.view()).reason, Reason::beats_flush);
  EXPECT_DOUBLE_EQ(decide_hybrid_opt(s.view()).tier_bytes_per_s, 500e6) << "of 11 writers";
  s.flush.bytes_per_s = 501e6;
  EXPECT_EQ(decide_hybrid_opt(s.view()).reason, Reason::wait_flush_faster);
}

TEST(HybridOpt, WaitsWhenEqualAndTakesAnythingWhenNothingWasFlushedYet) {
  Situation s = full_cache(0);
  EXPECT_EQ(decide_hybrid_opt(s.view()).tier, 1u);
  s.flush.bytes_per_s = kSsd.bytes_per_s(1);
  EXPECT_EQ(decide_hybrid_opt(s.view()).reason, Reason::wait_flush_faster);
}

TEST(HybridOpt, PrefersTheFastestOfManyTiers) {
  Situation s = full_cache(50e6);
  const DeviceModel nvme = DeviceModel::assumed(3e9);
  s.tiers.push_back({100, 100, 0, 0, 0, 0, false, &nvme});
  EXPECT_EQ(decide_hybrid_opt(s.view()).tier, 2u);
  s.tiers[2].free_slots = 0;
  EXPECT_EQ(decide_hybrid_opt(s.view()).tier, 1u);
}

TEST(Adaptive, TakesTheFastestTierWhenItHasRoom) {
  Situation s = full_cache(2e9);
  s.tiers[0].free_slots = 1;
  const Decision d = decide_adaptive(s.view());
  EXPECT_EQ(d.tier, 0u);
  EXPECT_EQ(d.reason, Reason::fastest);
}

TEST(Adaptive, JudgesATierByTheWritersThatAreAboutToJoin) {
  Situation s = full_cache(600e6);  // one writer gets 100 MB/s of the SSD, sixteen together 700
  EXPECT_EQ(decide_hybrid_opt(s.view()).reason, Reason::wait_flush_faster);
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::helps_meanwhile);
  EXPECT_DOUBLE_EQ(decide_adaptive(s.view()).tier_bytes_per_s, 700e6);
  s.queue = {2, 500};
  EXPECT_DOUBLE_EQ(decide_adaptive(s.view()).tier_bytes_per_s, 140e6);
}

TEST(Adaptive, LetsNobodyJoinWhereMoreWritersOnlySlowThingsDown) {
  Situation s = full_cache(100e6);
  s.tiers[1].writers = 15;
  EXPECT_TRUE(decide_adaptive(s.view()).tier);
  s.tiers[1].writers = 16;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_saturated);
  EXPECT_TRUE(decide_hybrid_opt(s.view()).tier) << "which is what Algorithm 2 does";
  s.tiers[1].writers = 15;
  s.tiers[1].readers = 8;
  EXPECT_TRUE(decide_adaptive(s.view()).tier) << "fewer writers would leave more to the readers";
}

TEST(Adaptive, DoesNotTrapTheLastProducersOnASlowTier) {
  Situation s = full_cache(600e6);
  s.queue = {10, 10};
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_flush_faster);
  s.queue.chunks_to_come = 500;
  EXPECT_TRUE(decide_adaptive(s.view()).tier);
}

TEST(Adaptive, DoesNotWaitForFlushesThatAllEndTogetherMuchLater) {
  Situation s = full_cache(200e6);
  s.queue = {1, 1};
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_flush_faster);
  s.flush.next_slot_s = 5;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::helps_meanwhile);
}

TEST(Adaptive, TrustsFlushesThatVaryLess) {
  Situation s = full_cache(400e6);
  s.queue = {15, 15};
  s.flush.deviation_bytes_per_s = 0;
  const double steady = decide_adaptive(s.view()).rest_s;
  s.flush.deviation_bytes_per_s = 300e6;
  EXPECT_DOUBLE_EQ(decide_adaptive(s.view()).rest_s, 4 * steady);
  s.flush.deviation_bytes_per_s = 4e9;
  EXPECT_DOUBLE_EQ(decide_adaptive(s.view()).rest_s, 4 * steady) << "bounded";
}

TEST(Adaptive, LeavesNoMoreOnASlowTierThanIsFlushedMeanwhile) {
  Situation s =
      full_cache(1e9);  // 26 are read at 620 MB/s while 16 of memory are stored, two more cost hardly anything
  s.tiers[1].chunks_unflushed = 27;
  EXPECT_TRUE(decide_adaptive(s.view()).tier);
  s.tiers[1].chunks_unflushed = 28;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_backlog);
}

TEST(Adaptive, LeavesNothingWhereOneReaderIsTooSlowForAFastStore) {
  EXPECT_EQ(decide_adaptive(full_cache(2.1e9).view()).reason, Reason::wait_backlog);
}

TEST(Adaptive, ASlumpOfTheStoreDoesNotMakeItLeaveMore) {
  Situation s = full_cache(750e6);
  s.tiers[1].chunks_unflushed = 28;
  EXPECT_TRUE(decide_adaptive(s.view()).tier);
  s.flush.sustained_bytes_per_s = 1e9;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_backlog);
}

TEST(Adaptive, DoesNotSendTheOnlyProducerAwayWhileFlushesWouldStarve) {
  Situation s = full_cache(150e6);
  s.queue = {1, 500};
  const DeviceModel slow = DeviceModel::assumed(140e6);
  s.tiers[1].model = &slow;
  EXPECT_TRUE(decide_adaptive(s.view()).tier) << "2 GB are left to flush";
  s.tiers[0].chunks_unflushed = 1;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_flush_faster);
}

TEST(Adaptive, FillsTheSweetSpotBeforeAnythingIsKnownOfFlushes) {
  Situation s = full_cache(0);
  EXPECT_TRUE(decide_adaptive(s.view()).tier);
  s.tiers[1].writers = 16;
  EXPECT_EQ(decide_adaptive(s.view()).reason, Reason::wait_saturated);
}

TEST(Adaptive, DoesNotWaitForAFasterTierThatNothingWillFree) {
  Situation s = full_cache(50e9);
  s.tiers[0].slots_to_come = 0;
  s.tiers[1].slots_to_come = 3;
  EXPECT_EQ(decide_adaptive(s.view()).tier, 1u);
}

}  // namespace
}  // namespace perdure::placement
