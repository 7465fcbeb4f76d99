#include "engine/flush/flush_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace perdure::engine {
namespace {

using Chunks = std::vector<std::size_t>;

FlushSequence sequence_of(const std::vector<std::uint32_t>& tiers, const std::vector<double>& rates, unsigned threads) {
  FlushSequence sequence(rates, threads);
  for (std::size_t chunk = 0; chunk < tiers.size(); ++chunk) sequence.add(chunk, tiers[chunk]);
  return sequence;
}

Chunks all_one_after_the_other(const std::vector<std::uint32_t>& tiers, const std::vector<double>& rates,
                               unsigned threads, bool slots_wanted = false) {
  FlushSequence sequence = sequence_of(tiers, rates, threads);
  Chunks order;
  while (const auto chunk = sequence.next(slots_wanted)) {
    order.push_back(*chunk);
    sequence.reads(*chunk, false);
  }
  return order;
}

TEST(FlushSequence, KeepsTheOrderOfTheSegmentOnOneTier) {
  EXPECT_EQ(all_one_after_the_other({0, 0, 0}, {1e9}, 4), (Chunks{0, 1, 2}));
  EXPECT_EQ(all_one_after_the_other({}, {}, 4), Chunks());
}

TEST(FlushSequence, BeginsWithTheTierThatTakesLongestToEmpty) {
  EXPECT_EQ(all_one_after_the_other({0, 1, 0}, {1e9, 1e8}, 1), (Chunks{1, 0, 2}));
  EXPECT_EQ(all_one_after_the_other({1, 0, 0, 0}, {1e8, 1e9}, 1), (Chunks{1, 2, 3, 0}));
}

TEST(FlushSequence, BeginsWithTheTierThatProducersWaitForAndLeavesWhatFreesNoSlotsForTheEnd) {
  EXPECT_EQ(all_one_after_the_other({0xFFFFFFFF, 1, 0, 1, 0}, {1e9, 1e8}, 1, true), (Chunks{2, 4, 1, 3, 0}));
}

TEST(FlushSequence, TakesWhatIsAddedLater) {
  FlushSequence sequence({1e9}, 1);
  EXPECT_EQ(sequence.next(false), std::nullopt);
  sequence.add(7, 0);
  EXPECT_EQ(sequence.next(false), 7u);
  sequence.reads(7, false);
  EXPECT_EQ(sequence.next(false), std::nullopt);
}

TEST(FlushSequence, KeepsAThreadForTheOthersWhileTheSlowTierIsRead) {
  FlushSequence sequence = sequence_of({0, 1, 1, 1, 1}, {1e9, 1e8}, 2);
  EXPECT_EQ(sequence.next(false), 1u);
  EXPECT_EQ(sequence.next(false), 0u);
  EXPECT_EQ(sequence.next(false), 2u) << "nothing else is left";
}

TEST(FlushSequence, WhoWritesToTheStoreIsNoReaderAnyMore) {
  FlushSequence sequence = sequence_of({0, 0, 1, 1, 1}, {1e9, 1e8}, 2);
  EXPECT_EQ(sequence.next(false), 2u);
  sequence.reads(2, false);
  EXPECT_EQ(sequence.next(false), 3u);
  sequence.reads(2, true);
  sequence.reads(3, false);
  EXPECT_EQ(sequence.next(false), 0u) << "the second is being read, block by block";
}

TEST(FlushSequence, GivesEveryChunkOnceInAnyInterleaving) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> tiers(random() % 40);
    for (auto& tier : tiers) tier = static_cast<std::uint32_t>(random() % 3);
    FlushSequence sequence = sequence_of(tiers, {1e9, 0, 1e7}, 1 + static_cast<unsigned>(random() % 8));
    Chunks running, given;
    for (;;) {
      if (!running.empty() && random() % 2 == 0) {
        sequence.reads(running.back(), false);
        running.pop_back();
        continue;
      }
      const auto chunk = sequence.next(false);
      if (!chunk) break;
      running.push_back(*chunk);
      given.push_back(*chunk);
    }
    std::sort(given.begin(), given.end());
    Chunks expected(tiers.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i;
    EXPECT_EQ(given, expected);
  }
}

}  // namespace
}  // namespace perdure::engine
