// Where pieces come from after every set of losses, for every scheme: compared with what the scheme promises.
#include "plan/recovery.hpp"

#include <gmock/gmock.h>

#include <random>

#include "redundancy/registry.hpp"

namespace perdure::plan {
namespace {

using From = PieceSource::Kind;

/// One group of n nodes, node p at position p, with two ranks each of 1 to 4 chunks.
struct Cluster {
  const redundancy::Scheme* scheme;
  unsigned n, m;
  VersionInventory whole;
  std::vector<std::uint32_t> nodes_now;

  Cluster(const char* name, unsigned positions, unsigned parities, std::uint64_t seed = 1)
      : scheme(*redundancy::find_scheme(name)), n(positions), m(parities) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<ReplicatedRank>> members;
    for (std::uint32_t p = 0; p < n; ++p) {
      members.push_back({{2 * p, 1 + random() % 4}, {2 * p + 1, 1 + random() % 4}});
      for (int i = 0; i < 2; ++i) whole.nodes_of_rank.push_back({p}), nodes_now.push_back(p);
    }
    for (unsigned p = scheme->at_server ? n : 0; p < redundancy::positions(*scheme, n); ++p)
      if (redundancy::keeps_redundancy(*scheme)) whole.kept.push_back({p, 9, 0, name, m, p, members});
  }
  VersionInventory without(const redundancy::Positions& lost) const {
    VersionInventory left = whole;
    for (auto& nodes : left.nodes_of_rank) std::erase_if(nodes, [&](std::uint32_t node) { return lost[node]; });
    std::erase_if(left.kept, [&](const RedundancyShare& part) { return lost[part.position]; });
    return left;
  }
  bool survives(const std::vector<PieceSource>& sources) const {
    return std::none_of(sources.begin(), sources.end(), [](const auto& s) { return s.kind == From::nowhere; });
  }
};

void expect_every_loss(const Cluster& cluster) {
  const std::size_t positions = redundancy::positions(*cluster.scheme, cluster.n);
  for (std::uint64_t bits = 0; bits < (1ULL << positions); ++bits) {
    const redundancy::Positions lost(bits);
    const auto sources = plan_recovery(cluster.without(lost), cluster.nodes_now);
    ASSERT_EQ(sources.size(), 2 * cluster.n);
    // What survives by the scheme's word must be had; what cannot is refused with a reason, or was lucky in its sizes.
    EXPECT_TRUE(!cluster.scheme->survives(cluster.n, cluster.m, lost) || cluster.survives(sources)) << lost;
    for (std::uint32_t rank = 0; rank < sources.size(); ++rank) {
      const bool gone = lost[rank / 2];
      EXPECT_EQ(sources[rank].kind == From::in_place, !gone);
      EXPECT_EQ(sources[rank].kind == From::nowhere, !sources[rank].why.empty());
      EXPECT_TRUE(gone || sources[rank].kind != From::rebuild);
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
  // Two groups of three nodes: nodes 0 to 2 with ranks 0 to 5, nodes 3 to 5 with ranks 6 to 11.
  auto inventory = Cluster("xor", 3, 1).whole;
  for (std::uint32_t node = 3; node < 6; ++node) {
    auto share = inventory.kept[node - 3];
    share.node = node;
    share.group = 1;
    for (auto& position : share.members)
      for (auto& member : position) member.rank += 6;
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

// The server's parities are known to whoever has a record of its group.
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
  const auto sources = plan_recovery(cluster.without(lost), cluster.nodes_now);
  EXPECT_EQ(sources[2].kind, From::nowhere);
  EXPECT_THAT(sources[2].why, testing::AllOf(testing::HasSubstr("rank 2"), testing::HasSubstr("chunk"),
                                             testing::HasSubstr("lacks 2 items and may lack 1")));
}

TEST(Recovery, WhatNoRedundancyBringsBackComesFromTheStoreWhichIsSaid) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(3));
  left.stored.assign(6, true);
  const auto sources = plan_recovery(left, cluster.nodes_now);
  EXPECT_EQ(sources[0].kind, From::store);
  EXPECT_NE(sources[0].why, "");
  EXPECT_EQ(sources[5].kind, From::in_place) << "nearer than the store";
}

TEST(Recovery, RanksThatCameBackElsewhereTakeTheirPiecesAlong) {
  const Cluster cluster("buddy", 3, 0);
  const std::vector<std::uint32_t> moved{2, 2, 0, 0, 1, 1};
  const auto sources = plan_recovery(cluster.whole, moved);
  for (const auto& source : sources) EXPECT_EQ(source.kind, From::move);
  EXPECT_EQ(sources[0].node, 0U);
  // On the survivors alone: node 2 is gone, its ranks run on node 0.
  const auto survivors = plan_recovery(cluster.without(redundancy::Positions(4)), {0, 0, 1, 1, 0, 0});
  EXPECT_EQ(survivors[3].kind, From::in_place);
  EXPECT_EQ(survivors[4].kind, From::rebuild);
}

TEST(Recovery, OneDamagedPieceIsALossAndTheOtherRankOfItsNodeStays) {
  const Cluster cluster("xor", 4, 1);
  auto left = cluster.whole;
  left.nodes_of_rank[3].clear();  // quarantined
  const auto sources = plan_recovery(left, cluster.nodes_now);
  EXPECT_EQ(sources[3].kind, From::rebuild);
  EXPECT_EQ(sources[2].kind, From::in_place);
}

TEST(Recovery, ABadParityIsALossOfItsStripeOnly) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  ASSERT_EQ(plan_recovery(left, cluster.nodes_now)[0].kind, From::rebuild);
  left.kept[0].missing = {1};  // node 1's parity of stripe 1, which has block 0 of node 0
  const auto sources = plan_recovery(left, cluster.nodes_now);
  EXPECT_EQ(sources[0].kind, From::nowhere);
  left.kept[0].missing = {4000};  // no stripe of this version
  EXPECT_EQ(plan_recovery(left, cluster.nodes_now)[0].kind, From::rebuild);
}

TEST(Recovery, TheVersionThatWasEncodedAgainIsRebuiltFromWhicheverEpochIsEnough) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  auto unfinished = left.kept.front();
  unfinished.epoch = 8;
  unfinished.missing = {1};  // the stripe of rank 0's first chunk
  left.kept.insert(left.kept.begin(), unfinished);
  const auto sources = plan_recovery(left, cluster.nodes_now);
  ASSERT_EQ(sources[0].kind, From::rebuild);
  EXPECT_EQ(left.kept[sources[0].part].epoch, 9U);
}

TEST(Recovery, PartsThatContradictEachOtherAreNotMixed) {
  const Cluster cluster("xor", 3, 1);
  auto left = cluster.without(redundancy::Positions(1));
  left.kept[0].members[0][0].chunks += 4;  // node 1 means another version of node 0
  const auto sources = plan_recovery(left, cluster.nodes_now);
  EXPECT_EQ(sources[0].kind, From::nowhere);
  left.kept[1].scheme = "surprise";
  EXPECT_EQ(plan_recovery(left, cluster.nodes_now)[0].kind, From::nowhere);
}

// Its own node reads the temporary segment; for others it is lost, and helps nobody to rebuild.
TEST(Recovery, WhatIsHalfFlushedIsInPlaceForItsOwnNodeOnly) {
  unsigned nowhere = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Cluster cluster("xor", 3, 1, seed);
    VersionInventory inventory = cluster.whole;
    inventory.nodes_of_rank[0].clear(), inventory.nodes_of_rank[1].clear();
    inventory.half_flushed = {true, true, false, false, false, false};
    for (const auto& source : plan_recovery(inventory, cluster.nodes_now)) EXPECT_EQ(source.kind, From::in_place);
    inventory.nodes_of_rank[2].clear(), inventory.nodes_of_rank[3].clear();
    const auto sources = plan_recovery(inventory, cluster.nodes_now);
    inventory.half_flushed.clear();
    const auto lost = plan_recovery(inventory, cluster.nodes_now);
    EXPECT_EQ(sources[0].kind, From::in_place);
    EXPECT_EQ(sources[2].kind, lost[2].kind);
    nowhere += sources[2].kind == From::nowhere ? 1 : 0;
  }
  EXPECT_GT(nowhere, 0U) << "two nodes of the group have nothing to give";
}

}  // namespace
}  // namespace perdure::plan
