#include "rounds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace perdure::mpi_link {
namespace {

void expect_every_pair_once(const std::vector<Round>& rounds, int ranks) {
  std::set<Pair> seen;
  for (const Round& round : rounds) {
    std::set<int> busy;
    for (const Pair& pair : round) {
      EXPECT_LT(pair.first, pair.second);
      EXPECT_TRUE(busy.insert(pair.first).second && busy.insert(pair.second).second) << "twice in a round";
      EXPECT_TRUE(seen.insert(pair).second) << pair.first << "-" << pair.second << " again";
      EXPECT_TRUE(pair.first >= 0 && pair.second < ranks);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
}

TEST(Rounds, HoldEveryPairOnceAndNobodyTwiceAtATime) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    expect_every_pair_once(parallel_rounds(ranks), ranks);
    expect_every_pair_once(serial_rounds(ranks), ranks);
  }
}

TEST(Rounds, AreAsFewAsCanBe) {
  EXPECT_EQ(parallel_rounds(1).size(), 0U);
  EXPECT_EQ(parallel_rounds(2).size(), 1U);
  EXPECT_EQ(parallel_rounds(8).size(), 7U);
  EXPECT_EQ(parallel_rounds(7).size(), 7U);
  EXPECT_EQ(serial_rounds(4).size(), 6U);
}

TEST(Rounds, KnowThePeerAndWhoRests) {
  const Round round{{0, 3}, {1, 2}};
  EXPECT_EQ(peer_of(0, round), 3);
  EXPECT_EQ(peer_of(2, round), 1);
  EXPECT_EQ(peer_of(4, round), -1);
}

}  // namespace
}  // namespace perdure::mpi_link
