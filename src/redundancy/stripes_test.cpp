#include "redundancy/stripes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "redundancy/block_order.hpp"

namespace perdure::redundancy {
namespace {

/// Builds the map as the decision record defines it: stripe after stripe, position after position.
struct Walk {
  std::map<std::pair<std::uint64_t, unsigned>, Block> blocks;                    // (stripe, index)
  std::map<unsigned, std::vector<std::pair<std::uint64_t, unsigned>>> parities;  // position -> (stripe, j)
  Walk(unsigned n, unsigned m, std::uint64_t stripes) {
    std::vector<std::uint64_t> next(n);
    for (std::uint64_t s = 0; s < stripes; ++s) {
      for (unsigned j = 0; j < m; ++j) parities[static_cast<unsigned>((s + j) % n)].emplace_back(s, j);
      for (unsigned i = 0; i < n - m; ++i) {
        const auto position = static_cast<unsigned>((s + m + i) % n);
        blocks[{s, i}] = {position, next[position]++};
      }
    }
  }
};

TEST(Stripes, AreTheWalkOverAllStripes) {
  for (unsigned n = 2; n <= 64; n = n < 17 ? n + 1 : n + 47)
    for (unsigned m = 1; m <= std::min(8u, n - 1); ++m) {
      const Stripes stripes(n, m);
      const std::uint64_t count = 3 * n + 1;
      const Walk walk(n, m, count);
      for (const auto& [where, block] : walk.blocks) {
        const Place place{where.first, where.second};
        ASSERT_EQ(stripes.block(place), block) << n << " " << m << " " << place.stripe;
        ASSERT_EQ(stripes.place(block), place) << n << " " << m;
      }
      for (unsigned position = 0; position < n; ++position) {
        const auto& parities = walk.parities.at(position);
        ASSERT_EQ(stripes.parities_at(position, count), parities.size());
        for (std::size_t i = 0; i < parities.size(); ++i) {
          const Place expected{parities[i].first, parities[i].second};
          ASSERT_EQ(stripes.parity_at(position, i), expected) << n << " " << m << " " << position;
          ASSERT_EQ(stripes.parity_position(expected.stripe, expected.index), position);
          ASSERT_EQ(stripes.parities_at(position, expected.stripe), i);
        }
      }
    }
}

TEST(Stripes, CountIsThatOfTheLastBlockAnybodyHas) {
  std::mt19937_64 random(1);
  EXPECT_EQ(Stripes(4, 1).count(std::vector<std::uint64_t>(4)), 0u);
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<unsigned>(2 + random() % 9), m = static_cast<unsigned>(1 + random() % (n - 1));
    const Stripes stripes(n, m);
    std::vector<std::uint64_t> blocks(n);
    for (auto& count : blocks) count = random() % 20;
    std::uint64_t expected = 0;
    for (unsigned p = 0; p < n; ++p)
      for (std::uint64_t b = 0; b < blocks[p]; ++b) expected = std::max(expected, stripes.place({p, b}).stripe + 1);
    EXPECT_EQ(stripes.count(blocks), expected);
  }
}

TEST(Stripes, FarOutAreAsQuickAndInvertible) {
  for (const unsigned m : {1u, 3u, 8u}) {
    const Stripes stripes(64, m);
    for (unsigned position = 0; position < 64; ++position) {
      const Block block{position, (std::uint64_t{1} << 50U) + position * 3};
      EXPECT_EQ(stripes.block(stripes.place(block)), block);
    }
  }
}

TEST(Stripes, WithAServerHaveABlockOfEveryPositionAndTheirParityThere) {
  const Stripes stripes = Stripes::at_server(3);
  EXPECT_EQ(stripes.k(), 3u);
  EXPECT_EQ(stripes.m(), 1u);
  for (std::uint64_t s = 0; s < 5; ++s) {
    EXPECT_EQ(stripes.parity_position(s, 0), 3u);
    EXPECT_EQ(stripes.parity_at(3, s), (Place{s, 0}));
    for (unsigned p = 0; p < 3; ++p) {
      EXPECT_EQ(stripes.block({s, p}), (Block{p, s}));
      EXPECT_EQ(stripes.place({p, s}), (Place{s, p}));
    }
  }
  EXPECT_EQ(stripes.count(std::vector<std::uint64_t>{2, 7, 0}), 7u);
  EXPECT_EQ(stripes.parities_at(0, 7), 0u);
  EXPECT_EQ(stripes.parities_at(3, 7), 7u);
}

TEST(BlockOrder, TakesTheChunksOfAllRanksInLayers) {
  const std::vector<std::uint64_t> chunks = {2, 0, 3, 1};
  const BlockOrder order(chunks);
  const std::vector<RankChunk> expected = {{0, 0}, {2, 0}, {3, 0}, {0, 1}, {2, 1}, {2, 2}};
  ASSERT_EQ(order.count(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(order.chunk(i), expected[i]);
    EXPECT_EQ(order.block(expected[i]), i);
  }
}

TEST(BlockOrder, IsTheSortedOneForAnyCounts) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint64_t> chunks(random() % 9);
    const bool alike = random() % 3 == 0;
    for (auto& count : chunks) count = alike ? 4 : random() % 7;
    std::set<std::pair<std::uint64_t, std::uint32_t>> all;  // by chunk, then rank
    for (std::uint32_t rank = 0; rank < chunks.size(); ++rank)
      for (std::uint64_t chunk = 0; chunk < chunks[rank]; ++chunk) all.emplace(chunk, rank);
    const BlockOrder order(chunks);
    ASSERT_EQ(order.count(), all.size());
    std::uint64_t block = 0;
    for (const auto& [chunk, rank] : all) {
      ASSERT_EQ(order.chunk(block), (RankChunk{rank, chunk}));
      ASSERT_EQ(order.block({rank, chunk}), block++);
    }
  }
}

TEST(BlockOrder, OfNothingIsEmpty) {
  EXPECT_EQ(BlockOrder({}).count(), 0u);
  EXPECT_EQ(BlockOrder(std::vector<std::uint64_t>{0, 0}).count(), 0u);
}

}  // namespace
}  // namespace perdure::redundancy
