#include "plan/settlement.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

constexpr Aggregation kPerNode{Aggregation::Per::node, 0};
const std::vector<std::uint32_t> kTwoNodes = {0, 0, 1, 1};

Evidence in_tiers(std::vector<std::optional<std::uint32_t>> nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank)
    if (nodes[rank]) held.emplace_back(rank, *nodes[rank]);
  Evidence evidence;
  evidence.holders = PieceHolders(static_cast<std::uint32_t>(nodes.size()), std::move(held));
  return evidence;
}

TEST(Settle, CommitsWhatIsWholeInTiers) {
  const auto settled = settle(in_tiers({0, 0, 1, 1}), kTwoNodes, kPerNode);
  EXPECT_EQ(settled.verdict, Verdict::commit);
  EXPECT_EQ(settled.segments, lay_out_segments(kTwoNodes, kPerNode));
}

TEST(Settle, LaysOutByWhereThePiecesAreNotByWhereTheRanksRunNow) {
  const auto settled = settle(in_tiers({1, 1, 0, 0}), kTwoNodes, kPerNode);
  EXPECT_EQ(settled.verdict, Verdict::commit);
  EXPECT_EQ(settled.segments, lay_out_segments({1, 1, 0, 0}, kPerNode));
}

TEST(Settle, GivesUpWhatCanNeverBeWhole) {
  EXPECT_EQ(settle(in_tiers({0, 0, 1, std::nullopt}), kTwoNodes, kPerNode).verdict, Verdict::abort);
  EXPECT_EQ(settle(in_tiers({std::nullopt}), {0}, kPerNode).verdict, Verdict::abort);
}

// It may become whole with the tier, which a later launch reaches.
TEST(Settle, WaitsForAPieceThatCannotBeReachedUnlessANewerVersionIsWhole) {
  auto evidence = in_tiers({0, 0, 1, std::nullopt});
  evidence.unreachable = {3};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::waits);
  evidence.superseded = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
  evidence = in_tiers({0, std::nullopt, 1, std::nullopt});
  evidence.unreachable = {1};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort) << "rank 3's piece is nowhere";
  evidence.stored = {{1, 2, {2, 3}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::waits);
}

// The other node may have been told that all agreed, and come back.
TEST(Settle, WaitsForANodeThatIsNotInThisLaunchUnlessANewerVersionIsWhole) {
  auto evidence = in_tiers({0, 0, std::nullopt, std::nullopt});
  evidence.node_away = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::waits);
  EXPECT_TRUE(settle(evidence, kTwoNodes, kPerNode).segments.empty());
  evidence.superseded = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
}

// Covers every place of the last node's pieces, and all other facts.
TEST(Settle, NothingIsGivenUpWhileItMayBeWholeAndNothingNewerIs) {
  enum class Rest { in_tiers, stored, unreachable, nowhere };
  for (const Rest rest : {Rest::in_tiers, Rest::stored, Rest::unreachable, Rest::nowhere})
    for (unsigned flags = 0; flags < 8; ++flags) {
      const std::optional<std::uint32_t> other =
          rest == Rest::in_tiers ? std::optional<std::uint32_t>(1) : std::nullopt;
      auto evidence = in_tiers({0, 0, other, other});
      if (rest == Rest::stored) evidence.stored = {{1, 2, {2, 3}}};
      if (rest == Rest::unreachable) evidence.unreachable = {2, 3};
      evidence.store_unread = (flags & 1) != 0;
      evidence.node_away = (flags & 2) != 0;
      evidence.superseded = (flags & 4) != 0;
      const bool whole = rest == Rest::in_tiers || rest == Rest::stored;
      const bool may_come = rest == Rest::unreachable || evidence.store_unread || evidence.node_away;
      const Verdict expected = whole                              ? Verdict::commit
                               : may_come && !evidence.superseded ? Verdict::waits
                                                                  : Verdict::abort;
      EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, expected)
          << "rest " << static_cast<int>(rest) << ", flags " << flags;
    }
}

// A node may have stored its segment and freed its slots while another died before it heard of the commit.
TEST(Settle, ASegmentAtTheStoreIsAsGoodAsPiecesInTiers) {
  auto evidence = in_tiers({std::nullopt, std::nullopt, 1, 1});
  evidence.stored = {{0, 2, {0, 1}}};
  const auto settled = settle(evidence, kTwoNodes, kPerNode);
  EXPECT_EQ(settled.verdict, Verdict::commit);
  EXPECT_EQ(settled.segments, (std::vector<SegmentPlan>{{1, 2, 1, {2, 3}}})) << "nobody has the pieces of the other";
}

TEST(Settle, AroundWhatAStoreThatCannotBeReadMayHaveNothingIsLaidOut) {
  auto turned = in_tiers({1, 1, 0, 0});
  turned.committed = {{0, 2, {0, 1}}};
  turned.store_unread = true;
  EXPECT_EQ(settle(turned, kTwoNodes, kPerNode).verdict, Verdict::commit) << "what is missing is one segment";
  turned.committed = {{0, 3, {0, 1}}};
  EXPECT_EQ(settle(turned, kTwoNodes, kPerNode).verdict, Verdict::undecided);
  turned.committed = {{1, 2, {0, 1}}};  // the layout of the pieces' nodes
  EXPECT_EQ(settle(turned, kTwoNodes, kPerNode).verdict, Verdict::commit);
}

TEST(Settle, WritesWhatFitsSegmentsThatTheStoreOrOthersHave) {
  auto evidence = in_tiers({std::nullopt, std::nullopt, 1, 1});
  evidence.stored = {{0, 3, {0, 1}}};
  const std::vector<SegmentPlan> rest = {{1, 3, 1, {2}}, {2, 3, 1, {3}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::commit);
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).segments, rest);
  // The nodes are in another order than when the first of them committed.
  auto turned = in_tiers({1, 1, 0, 0});
  turned.committed = {{0, 2, {0, 1}}};
  EXPECT_EQ(settle(turned, kTwoNodes, kPerNode).segments, (std::vector<SegmentPlan>{{1, 2, 0, {2, 3}}}));
}

TEST(Settle, KeepsPiecesWhoseSegmentsCannotBeWrittenToMatchUntilSomethingNewerIsWhole) {
  auto evidence =
      in_tiers({std::nullopt, std::nullopt, 0, 1});  // the missing part is one segment, with pieces on two nodes
  evidence.stored = {{0, 2, {0, 1}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::undecided);
  evidence.superseded = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
}

// A recovery brought a lost node's one segment to one node, and to the ranks' nodes.
TEST(Settle, WhoHasAllPiecesOfASegmentWritesItWhereverElseTheyAre) {
  auto evidence = in_tiers({0, 0, std::nullopt, std::nullopt, 2, 2});
  evidence.committed = {{0, 3, {0, 1}}, {2, 3, {4, 5}}};
  const std::vector<SegmentPlan> lost = {{1, 3, 0, {2, 3}}};
  evidence.holders = PieceHolders(6, {{0, 0}, {1, 0}, {2, 0}, {3, 2}, {3, 0}, {4, 2}, {5, 2}});
  const auto settled = settle(evidence, {0, 0, 0, 2, 2, 2}, kPerNode);
  EXPECT_EQ(settled.verdict, Verdict::commit);
  EXPECT_EQ(settled.segments, lost);
  evidence.holders = PieceHolders(6, {{0, 0}, {1, 0}, {2, 0}, {3, 2}, {4, 2}, {5, 2}});
  EXPECT_EQ(settle(evidence, {0, 0, 0, 2, 2, 2}, kPerNode).verdict, Verdict::undecided);
}

TEST(Settle, GivesNothingUpForAStoreThatCouldNotBeRead) {
  auto evidence = in_tiers({0, 0, 1, std::nullopt});
  evidence.store_unread = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::waits);
  evidence.superseded = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
}

TEST(Settle, AnotherNumberOfRanksThanRunsNowIsJudgedByItsOwnPieces) {
  EXPECT_EQ(settle(in_tiers({0, 1}), {0}, kPerNode).verdict, Verdict::commit);
  auto evidence = in_tiers({0, std::nullopt});
  evidence.stored = {{1, 2, {1}}};
  EXPECT_EQ(settle(evidence, {0}, kPerNode).segments, (std::vector<SegmentPlan>{{0, 2, 0, {0}}}));
}

// Chunks that moved during the capture are in temporary segments, which only continue as they were begun.
Evidence moved(std::vector<std::optional<std::uint32_t>> nodes, std::vector<SegmentPart> begun) {
  auto evidence = in_tiers(std::move(nodes));
  evidence.begun = std::move(begun);
  return evidence;
}

TEST(Settle, MovedChunksCountAsHeldWhenTheSegmentsAreThoseThatWereBegun) {
  for (const auto& begun :
       std::vector<std::vector<SegmentPart>>{{{0, 2, {0, 1}}}, {{1, 2, {2, 3}}}, {{0, 2, {0, 1}}, {1, 2, {2, 3}}}}) {
    const auto settled = settle(moved({0, 0, 1, 1}, begun), kTwoNodes, kPerNode);
    EXPECT_EQ(settled.verdict, Verdict::commit);
    EXPECT_EQ(settled.segments, lay_out_segments(kTwoNodes, kPerNode));
  }
}

// The node that began it does not know that it is published. It frees the chunks only after it has continued it.
TEST(Settle, ASegmentThatIsStoredAndBegunIsCommittedAllTheSame) {
  auto evidence = moved({0, 0, 1, 1}, {{0, 2, {0, 1}}});
  evidence.stored = {{0, 2, {0, 1}}, {1, 2, {2, 3}}};
  const auto settled = settle(evidence, kTwoNodes, kPerNode);
  EXPECT_EQ(settled.verdict, Verdict::commit);
  EXPECT_EQ(settled.segments, (std::vector<SegmentPlan>{{0, 2, 0, {0, 1}}})) << "the other one nobody has to write";
}

TEST(Settle, OtherSegmentsThanWereBegunAreUndecidedUntilSomethingNewerIsWhole) {
  const SegmentPart other_ranks{0, 2, {0, 2}}, fewer_ranks{0, 2, {0}}, other_count{0, 3, {0, 1}},
      other_index{1, 2, {0, 1}}, none_such{2, 2, {0, 1}};
  for (const SegmentPart& begun : {other_ranks, fewer_ranks, other_count, other_index, none_such}) {
    auto evidence = moved({0, 0, 1, 1}, {{1, 2, {2, 3}}, begun});  // one that fits does not help the other
    EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::undecided);
    EXPECT_TRUE(settle(evidence, kTwoNodes, kPerNode).segments.empty());
    evidence.superseded = true;
    EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
  }
}

TEST(Settle, BegunSegmentsAreThoseOfTheNodesThatHoldThePiecesWhereverTheRanksRunNow) {
  const std::vector<SegmentPart> begun = {{0, 2, {0, 1}}};
  EXPECT_EQ(settle(moved({0, 0, 1, 1}, begun), {0, 1, 0, 1}, kPerNode).verdict, Verdict::commit);
  EXPECT_EQ(settle(moved({0, 1, 0, 1}, begun), kTwoNodes, kPerNode).verdict, Verdict::undecided);
}

TEST(Settle, BegunSegmentsAreThoseOfTheAggregationInUse) {
  constexpr Aggregation kPerRank{Aggregation::Per::rank, 0};
  const auto evidence = moved({0, 0, 1, 1}, {{1, 4, {1}}});
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerRank).verdict, Verdict::commit);
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::undecided);
}

TEST(Settle, ABegunSegmentIsNoPieceOfARankThatHasNone) {
  auto evidence = moved({0, std::nullopt, 1, 1}, {{0, 2, {0, 1}}});
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::abort);
  evidence.store_unread = true;
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::waits);
}

TEST(Settle, BesideASegmentAtTheStoreBegunOnesHaveToFitToo) {
  auto evidence = moved({std::nullopt, std::nullopt, 1, 1}, {{1, 2, {2, 3}}});
  evidence.stored = {{0, 2, {0, 1}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::commit);
  evidence.begun = {{0, 1, {2, 3}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::undecided);
  evidence.begun = {{1, 2, {2, 3}}};
  evidence.stored = {{0, 3, {0, 1}}};
  EXPECT_EQ(settle(evidence, kTwoNodes, kPerNode).verdict, Verdict::undecided);
}

}  // namespace
}  // namespace perdure::plan
