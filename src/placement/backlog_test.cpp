// Checks predictions for chunks left on a slower tier against figures worked out by hand. src/simulate/backlog_test.cpp
// checks them against the simulator.
#include "placement/backlog.hpp"

#include <gtest/gtest.h>

#include "placement/flush_order.hpp"
#include "placement/views_testing.hpp"

namespace perdure::placement {
namespace {

/// Has chunks of 1 MB, 32 of them in memory, and 16 flush threads: 14 read kSsd with 620 MB/s, 16 with 700.
Situation flushed_at(double bytes_per_s) {
  Situation s = full_cache(bytes_per_s);
  s.chunk_bytes = 1'000'000;
  return s;
}

Backlog left(const Situation& s, std::uint64_t chunks) { return backlog(s.view(), s.tiers[1], s.tiers[0], chunks); }

/// Returns the most chunks of which none is later.
std::uint64_t free_of_charge(const Situation& s) {
  std::uint64_t chunks = 0;
  while (chunks < 10'000 && left(s, chunks + 1).later_s == 0) ++chunks;
  return chunks;
}

TEST(Backlog, EachChunkEndsTheLocalPhaseSoonerByWhatAFlushOfItTakes) {
  EXPECT_DOUBLE_EQ(left(flushed_at(1e9), 1).sooner_s, 0.001);
  EXPECT_DOUBLE_EQ(left(flushed_at(1e9), 50).sooner_s, 0.05);
}

TEST(Backlog, CostsNothingWhereFlushesReadFasterThanTheStoreTakes) {
  EXPECT_EQ(left(flushed_at(619e6), 5000).later_s, 0);
  EXPECT_EQ(left(flushed_at(650e6), 5000).later_s, 0) << "all threads together are fast enough";
  EXPECT_GT(left(flushed_at(701e6), 5000).later_s, 0);
}

TEST(Backlog, WhatIsReadBesideTheContentOfTheFastestTierCostsNothing) {
  Situation s = flushed_at(1e9);  // 32 - 16 chunks at 380 MB/s cover what is read with 620 meanwhile
  EXPECT_EQ(free_of_charge(s), 26u);
  s.tiers[0].slots = 64;
  EXPECT_EQ(free_of_charge(s), 78u);
}

TEST(Backlog, WhatIsReadAloneMakesTheStoreWait) {
  const Situation s = flushed_at(1e9);
  const double each_s = 1 / 700.0 - 1 / 1000.0;
  EXPECT_NEAR(left(s, 27).later_s, (27 - 16 * 620 / 380.0) * each_s, 1e-9);
  EXPECT_NEAR(left(s, 127).later_s - left(s, 27).later_s, 100 * each_s, 1e-9);
}

TEST(Backlog, FewChunksAreReadByFewAndSoMoreSlowly) {
  const Situation s = flushed_at(2.1e9);
  EXPECT_EQ(free_of_charge(s), 0u) << "one stream gets 100 MB/s";
  Situation steady = s;
  const DeviceModel disk = DeviceModel::assumed(700e6);
  steady.tiers[1].model = &disk;
  EXPECT_EQ(free_of_charge(steady), 8u);
}

TEST(Backlog, AFastestTierSmallerThanTheThreadsCoversNothing) {
  Situation s = flushed_at(1e9);
  s.tiers[0].slots = 8;
  EXPECT_EQ(free_of_charge(s), 0u);
  EXPECT_NEAR(left(s, 100).later_s, 100 * (1 / 700.0 - 1 / 1000.0), 1e-9) << "and no less than nothing";
}

TEST(Backlog, CountsOnWhatTheFlushesSustain) {
  Situation s = flushed_at(650e6);
  s.flush.sustained_bytes_per_s = 1e9;
  EXPECT_EQ(free_of_charge(s), 26u);
  s.flush.bytes_per_s = 9e9;
  EXPECT_EQ(free_of_charge(s), 26u);
}

TEST(Backlog, IsWorthItWhileItCostsATwentyFifthOfWhatItGains) {
  EXPECT_TRUE(worth_it({100, 4}));
  EXPECT_FALSE(worth_it({100, 4.001}));
  EXPECT_TRUE(worth_it(left(flushed_at(1e9), 28)));
  EXPECT_FALSE(worth_it(left(flushed_at(1e9), 29)));
  EXPECT_TRUE(worth_it(left(flushed_at(725e6), 100'000))) << "the store waits hardly more than that";
}

TEST(Backlog, ReadersAreThoseThatTheFlushOrderAllows) {
  EXPECT_EQ(most_readers(16), 14u);
  EXPECT_EQ(most_readers(4), 3u);
  EXPECT_EQ(most_readers(1), 1u);
}

}  // namespace
}  // namespace perdure::placement
