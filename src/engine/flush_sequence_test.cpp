#include "engine/flush_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace perdure::engine {
namespace {

using Chunks = std::vector<std::size_t>;

Chunks all_one_after_the_other(FlushSequence sequence) {
  Chunks order;
  while (const auto chunk = sequence.next()) {
    order.push_back(*chunk);
    sequence.ended(*chunk);
  }
  return order;
}

TEST(FlushSequence, KeepsTheOrderOfTheSegmentOnOneTier) {
  EXPECT_EQ(all_one_after_the_other({{0, 0, 0}, {1e9}, 4}), (Chunks{0, 1, 2}));
  EXPECT_EQ(all_one_after_the_other({{}, {}, 4}), Chunks());
}

TEST(FlushSequence, BeginsWithTheTierThatTakesLongestToEmpty) {
  EXPECT_EQ(all_one_after_the_other({{0, 1, 0}, {1e9, 1e8}, 1}), (Chunks{1, 0, 2}));
  EXPECT_EQ(all_one_after_the_other({{1, 0, 0, 0}, {1e8, 1e9}, 1}), (Chunks{1, 2, 3, 0}));
}

TEST(FlushSequence, KeepsAThreadForTheOthersWhileTheSlowTierIsRead) {
  FlushSequence sequence({0, 1, 1, 1, 1}, {1e9, 1e8}, 2);
  EXPECT_EQ(sequence.next(), 1u);
  EXPECT_EQ(sequence.next(), 0u);
  EXPECT_EQ(sequence.next(), 2u) << "nothing else is left";
}

TEST(FlushSequence, GivesEveryChunkOnceInAnyInterleaving) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> tiers(random() % 40);
    for (auto& tier : tiers) tier = static_cast<std::uint32_t>(random() % 3);
    FlushSequence sequence(tiers, {1e9, 0, 1e7}, 1 + static_cast<unsigned>(random() % 8));
    Chunks running, given;
    for (;;) {
      if (!running.empty() && random() % 2 == 0) {
        sequence.ended(running.back());
        running.pop_back();
        continue;
      }
      const auto chunk = sequence.next();
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
