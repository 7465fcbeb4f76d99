// Compares the sources of pieces after every set of losses with the promise of every scheme.
#include "plan/recovery.hpp"

#include <gmock/gmock.h>

#include <random>

#include "redundancy/registry.hpp"

namespace perdure::plan {
namespace {

using From = PieceSource;

/// An inventory in the form that tests write.
struct Picture {
  std::vector<std::vector<std::uint32_t>> nodes_of_rank;
  std::vector<RedundancyShare> kept;
  std::vector<bool> stored;
  std::vector<bool> half_flushed = {};
  operator VersionInventory() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> held;
    for (std::uint32_t rank = 0; rank < nodes_of_rank.size(); ++rank)
      for (const std::uint32_t node : nodes_of_rank[rank]) held.emplace_back(rank, node);
    return {PieceHolders(static_cast<std::uint32_t>(nodes_of_rank.size()), std::move(held)), kept, stored,
            half_flushed};
  }
};

/// One group of n nodes, node p at position p, with two ranks each of 1 to 4 chunks.
struct Cluster {
  const redundancy::Scheme* scheme;
  unsigned n, m;
  Picture whole;
  std::vector<std::uint32_t> nodes_now;

  Cluster(const char* name, unsigned positions, unsigned parities, std::uint64_t seed = 1)
      : scheme(*redundancy::find_scheme(name)), n(positions), m(parities) {
    std::mt19937_64 random(seed);
    std::vector<PositionRanks> members;
    for (std::uint32_t p = 0; p < n; ++p) {
      members.emplace_back(std::vector<ReplicatedRank>{{2 * p, 1 + random() % 4}, {2 * p + 1, 1 + random() % 4}});
      for (int i = 0; i < 2; ++i) whole.nodes_of_rank.push_back({p}), nodes_now.push_back(p);
    }
    for (unsigned p = scheme->at_server ? n : 0; p < redundancy::positions(*scheme, n); ++p)
      if (redundancy::keeps_redundancy(*scheme)) whole.kept.push_back({p, 9, 0, name, m, p, members});
  }
  Picture without(const redundancy::Positions& lost) const {
    Picture left = whole;
    for (auto& nodes : left.nodes_of_rank) std::erase_if(nodes, [&](std::uint32_t node) { return lost[node]; });
    std::erase_if(left.kept, [&](const RedundancyShare& part) { return lost[part.position]; });
    return left;
  }
};

void expect_every_loss(const Cluster& cluster) {
  const std::size_t positions = redundancy::positions(*cluster.scheme, cluster.n);
  for (std::uint64_t bits = 0; bits < (1ULL << positions); ++bits) {
    const redundancy::Positions lost(bits);
    const auto plan = plan_recovery(cluster.without(lost), cluster.nodes_now);
    const auto& sources = plan.of_rank;
    ASSERT_EQ(sources.size(), 2 * cluster.n);
    // A loss that the scheme survives must be recovered. Any other is refused with a reason, or was lucky in its sizes.
    EXPECT_TRUE(!cluster.scheme->survives(cluster.n, cluster.m, lost) || plan.whole()) << lost;
    EXPECT_EQ(plan.whole(), std::find(sources.begin(), sources.end(), From::nowhere) == sources.end());
    for (std::uint32_t rank = 0; rank < sources.size(); ++rank) {
      const bool gone = lost[rank / 2];
      EXPECT_EQ(sources[rank] == From::in_place, !gone);
      EXPECT_TRUE(gone || sources[rank] != From::rebuild);
    }
  }
}

TEST(Recovery, AfterEveryLossItIsTheSchemesPromise) {
  for (unsigned n : {2U, 3U, 4U, 8U}) {
    for (const char* scheme : {"single", "partner", "buddy", "xor", "parity-server"})
      expect_every_loss(Cluster(scheme, n, std::string_view(scheme) == "buddy" ? 0 : 1));
    for (unsigned m = 1; m < std::min(n, 4U); ++m) expect_every_loss(Cluster("reed-solomon", n, m));
  }
}

TEST(Recovery, OnlyNodesThatHaveSomethingOfTheRanksGroupsAreAsked) {
  // There are two groups of three nodes: nodes 0 to 2 with ranks 0 to 5, nodes 3 to 5 with ranks 6 to 11.
  auto inventory = Cluster("xor", 3, 1).whole;
  for (std::uint32_t node = 3; node < 6; ++node) {
    auto share = inventory.kept[node - 3];
    share.node = node;
    share.group = 1;
    for (auto& position : share.members) {
      auto members = position.list();
      for (auto& member : members) member.rank += 6;
      position = members;
    }
    inventory.kept.push_back(share);
    for (int i = 0; i < 2; ++i) inventory.nodes_of_rank.push_back({node});
  }
  for (const std::uint32_t rank : {2U, 3U}) inventory.nodes_of_rank[rank].clear();  // node 1 is lost
  std::erase_if(inventory.kept, [](const RedundancyShare& share) { return share.node == 1; });
  EXPECT_THAT(nodes_to_ask(inventory, {2}),
              testing::ElementsAre(NodeQuestion{0, {0, 1}, {2}}, NodeQuestion{2, {4, 5}, {2}}));
  EXPECT_THAT(nodes_to_ask(inventory, {2, 11}), testing::SizeIs(5));
  EXPECT_TRUE(nodes_to_ask(inventory, {}).empty());
  EXPECT_TRUE(nodes_to_ask(inventory, {400}).empty());
}

TEST(Recovery, WhoeverHoldsAPieceNowIsAskedForIt) {
  auto inventory = Cluster("xor", 3, 1).whole;
  inventory.nodes_of_rank[0] = {7, 8};
  inventory.nodes_of_rank[1].clear();  // damaged: other chunks of it may be good
  EXPECT_THAT(nodes_to_ask(inventory, {0}),
              testing::ElementsAre(NodeQuestion{0, {0, 1}, {0}}, NodeQuestion{1, {2, 3}, {0}},
                                   NodeQuestion{2, {4, 5}, {0}}, NodeQuestion{7, {0}, {}}, NodeQuestion{8, {0}, {}}));
  inventory.kept.clear();
  EXPECT_THAT(nodes_to_ask(inventory, {0}), testing::ElementsAre(NodeQuestion{7, {0}, {}}, NodeQuestion{8, {0}, {}}));
}

// Every node with a record of the group knows the server's parities.
TEST(Recovery, OfAParityServerThoseAreAskedThatKnowItsGroup) {
  auto inventory = Cluster("parity-server", 3, 1).whole;
  ASSERT_EQ(inventory.kept.size(), 1U);
  inventory.kept[0].node = 2;
  inventory.nodes_of_rank[0].clear();
  const auto asked = nodes_to_ask(inventory, {0});
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_TRUE(asked[1].redundancy.empty());
  EXPECT_THAT(asked[2].redundancy, testing::ElementsAre(0));
}

TEST(Recovery, BeyondToleranceItSaysWhichChunkAndWhy) {
  const Cluster cluster("xor", 4, 1);
  redundancy::Positions lost;
  lost.set(1).set(2);
  const auto plan = plan_recovery(cluster.without(lost), cluster.nodes_now);
  EXPECT_EQ(plan.of_rank[2], From::nowhere);
  ASSERT_TRUE(plan.lost);
  EXPECT_THAT(*plan.lost, testing::AllOf(testing::HasSubstr("rank 2"), testing::HasSubstr("chunk"),
                                         testing::HasSubstr("lacks 2 items and may lack 1")));
}

TEST(Recovery, WhatNoRedundancyBringsBackComesFromTheStore) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(3));
  left.stored.assign(6, true);
  const auto plan = plan_recovery(left, cluster.nodes_now);
  EXPECT_EQ(plan.of_rank[0], From::store);
  EXPECT_EQ(plan.of_rank[5], From::in_place) << "nearer than the store";
  EXPECT_TRUE(plan.whole());
}

TEST(Recovery, RanksThatCameBackElsewhereTakeTheirPiecesAlong) {
  const Cluster cluster("buddy", 3, 0);
  const std::vector<std::uint32_t> moved{2, 2, 0, 0, 1, 1};
  const auto sources = plan_recovery(cluster.whole, moved).of_rank;
  for (const auto& source : sources) EXPECT_EQ(source, From::move);
  // The survivors are alone: node 2 is gone, its ranks run on node 0.
  const auto survivors = plan_recovery(cluster.without(redundancy::Positions(4)), {0, 0, 1, 1, 0, 0}).of_rank;
  EXPECT_EQ(survivors[3], From::in_place);
  EXPECT_EQ(survivors[4], From::rebuild);
}

TEST(Recovery, OneDamagedPieceIsALossAndTheOtherRankOfItsNodeStays) {
  const Cluster cluster("xor", 4, 1);
  auto left = cluster.whole;
  left.nodes_of_rank[3].clear();  // quarantined
  const auto sources = plan_recovery(left, cluster.nodes_now).of_rank;
  EXPECT_EQ(sources[3], From::rebuild);
  EXPECT_EQ(sources[2], From::in_place);
}

// Rank 1 has a chunk more than rank 0, in the stripe of the second chunk of rank 3.
TEST(Recovery, ALostPieceIsALossOfItsOwnChunksOnly) {
  const std::vector<PositionRanks> members{std::vector<ReplicatedRank>{{0, 1}, {1, 2}},
                                           std::vector<ReplicatedRank>{{2, 1}},
                                           std::vector<ReplicatedRank>{{3, 2}, {4, 1}, {5, 1}}};
  Picture left{{{}, {0}, {1}, {}, {2}, {2}}, {}, {}};
  for (std::uint32_t p = 0; p < 3; ++p) left.kept.push_back({p, 9, 0, "xor", 1, p, members});
  const auto sources = plan_recovery(left, {0, 0, 1, 2, 2, 2}).of_rank;
  EXPECT_EQ(sources[0], From::rebuild);
  EXPECT_EQ(sources[3], From::rebuild);
}

TEST(Recovery, ABadParityIsALossOfItsStripeOnly) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  ASSERT_EQ(plan_recovery(left, cluster.nodes_now).of_rank[0], From::rebuild);
  left.kept[0].missing = base::Runs<std::uint64_t>({1});  // node 1's parity of stripe 1, which has block 0 of node 0
  const auto sources = plan_recovery(left, cluster.nodes_now).of_rank;
  EXPECT_EQ(sources[0], From::nowhere);
  left.kept[0].missing = base::Runs<std::uint64_t>({4000});  // no stripe of this version
  EXPECT_EQ(plan_recovery(left, cluster.nodes_now).of_rank[0], From::rebuild);
}

TEST(Recovery, TheVersionThatWasEncodedAgainIsRebuiltFromWhicheverEpochIsEnough) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  auto unfinished = left.kept.front();
  unfinished.epoch = 8;
  unfinished.missing = base::Runs<std::uint64_t>({1});  // the stripe of rank 0's first chunk
  left.kept.insert(left.kept.begin(), unfinished);
  const auto sources = plan_recovery(left, cluster.nodes_now).of_rank;
  EXPECT_EQ(sources[0], From::rebuild);
}

TEST(Recovery, PartsThatContradictEachOtherAreNotMixed) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  auto members = left.kept[0].members[0].list();
  members[0].chunks += 4;  // node 1 means another version of node 0
  left.kept[0].members[0] = members;
  const auto sources = plan_recovery(left, cluster.nodes_now).of_rank;
  EXPECT_EQ(sources[0], From::nowhere);
  left.kept[1].scheme = "surprise";
  EXPECT_EQ(plan_recovery(left, cluster.nodes_now).of_rank[0], From::nowhere);
}

// Its own node reads the temporary segment. For others it is lost, and cannot help to rebuild.
TEST(Recovery, WhatIsHalfFlushedIsInPlaceForItsOwnNodeOnly) {
  unsigned nowhere = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Cluster cluster("xor", 3, 1, seed);
    Picture inventory = cluster.whole;
    inventory.nodes_of_rank[0].clear(), inventory.nodes_of_rank[1].clear();
    inventory.half_flushed = {true, true, false, false, false, false};
    for (const From source : plan_recovery(inventory, cluster.nodes_now).of_rank) EXPECT_EQ(source, From::in_place);
    inventory.nodes_of_rank[2].clear(), inventory.nodes_of_rank[3].clear();
    const auto sources = plan_recovery(inventory, cluster.nodes_now).of_rank;
    inventory.half_flushed.clear();
    const auto lost = plan_recovery(inventory, cluster.nodes_now).of_rank;
    EXPECT_EQ(sources[0], From::in_place);
    EXPECT_EQ(sources[2], lost[2]);
    nowhere += sources[2] == From::nowhere ? 1 : 0;
  }
  EXPECT_GT(nowhere, 0U) << "two nodes of the group have nothing to give";
}

}  // namespace
}  // namespace perdure::plan
