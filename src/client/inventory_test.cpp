// Which version a restore takes, and where its pieces come from, by what engines and the store say.
#include "client/inventory.hpp"

#include <gmock/gmock.h>

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = plan::PieceSource::Kind;

/// Two ranks, each on a node of its own.
class PlanVersions : public testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {100 * version, 1}}; }
  void hold(std::uint32_t node, std::uint64_t version, std::vector<std::uint32_t> ranks, std::uint32_t of = 2) {
    ipc::HeldSummary held;
    held.id = id(version);
    held.ranks = of;
    held.held = std::move(ranks);
    held.committed = true;
    all_.held.push_back({node, held});
  }
  void store(std::uint64_t version, const std::vector<std::uint32_t>& ranks, std::uint32_t of = 2) {
    StoredVersionView view{id(version), of, {}};
    for (const std::uint32_t rank : ranks) view.segments.push_back({{rank, of, id(version).attempt, {}, {}}, {rank}});
    view_.versions.push_back(view);
  }
  VersionPlans plans(bool network) const { return plan_versions(all_, view_, {0, 1}, network); }
  std::vector<Kind> kinds(std::uint64_t version, bool network) const {
    std::vector<Kind> found;
    const auto planned = plans(network);
    const auto plan = planned.of.find(id(version));
    if (plan == planned.of.end()) return found;
    for (const auto& source : plan->second.sources) found.push_back(source.kind);
    return found;
  }
  std::optional<std::uint64_t> chosen(std::int64_t version, const std::set<segment::VersionId>& excluded = {}) const {
    const auto found = choose_version(plans(true), version, excluded, 2);
    if (!found) return std::nullopt;
    EXPECT_EQ(*found, id(found->version));
    return found->version;
  }
  JobInventory all_;
  StoreView view_;
};

TEST_F(PlanVersions, TakesAPieceFromWhereItsRankRunsFromAnotherNodeAndFromTheStore) {
  hold(0, 1, {0});
  hold(0, 1, {1});
  store(2, {0, 1});
  EXPECT_THAT(kinds(1, true), ElementsAre(Kind::in_place, Kind::move));
  EXPECT_THAT(kinds(2, true), ElementsAre(Kind::store, Kind::store));
  EXPECT_TRUE(plans(true).of.at(id(1)).on_nodes);
  EXPECT_FALSE(plans(true).of.at(id(2)).on_nodes);
}

TEST_F(PlanVersions, WhereEnginesDoNotReachEachOtherARankHasWhatItsOwnNodeHas) {
  hold(0, 1, {0, 1});
  EXPECT_THAT(kinds(1, false), ElementsAre(Kind::in_place, Kind::nowhere));
  EXPECT_FALSE(plans(false).of.at(id(1)).on_nodes);
  const auto sources = plans(false).of.at(id(1)).sources;
  EXPECT_EQ(first_lost(sources) - sources.begin(), 1);
  const auto all_there = plans(true).of.at(id(1)).sources;
  EXPECT_EQ(first_lost(all_there), all_there.end());
  EXPECT_FALSE(to_fetch(all_there[0]));
  EXPECT_TRUE(to_fetch(all_there[1])) << "it is on another node";
}

TEST_F(PlanVersions, VersionsOfOtherNumbersOfRanksAreNotTakenButTold) {
  hold(0, 1, {0}, 4);
  EXPECT_EQ(plans(false).other_ranks, 0U) << "it may be that of another job on this node";
  EXPECT_EQ(plans(true).other_ranks, 4U);
  EXPECT_THAT(plans(true).of, IsEmpty());
  all_.held.clear();
  store(2, {0, 1, 2}, 3);
  EXPECT_EQ(plans(false).other_ranks, 3U) << "the store's are the job's";
  view_.versions.clear();
  ipc::RedundancySummary kept;
  kept.id = id(3);
  kept.ranks = 8;
  all_.kept.emplace_back(1, kept);
  EXPECT_EQ(plans(true).other_ranks, 8U);
  EXPECT_EQ(plans(false).other_ranks, 0U);
}

TEST_F(PlanVersions, TheNewestThatAllHaveIsTakenAndOnlyTheOneThatWasAskedFor) {
  for (const std::uint64_t version : {1, 2, 3}) hold(0, version, {0});
  for (const std::uint64_t version : {1, 2}) hold(1, version, {1});
  EXPECT_EQ(chosen(-1), 2U);
  EXPECT_EQ(chosen(1), 1U);
  EXPECT_EQ(chosen(3), std::nullopt) << "rank 1 has nothing of it";
  EXPECT_EQ(chosen(0), std::nullopt);
  EXPECT_EQ(chosen(-1, {id(2)}), 1U);
  EXPECT_EQ(chosen(2, {id(2)}), std::nullopt);
}

TEST_F(PlanVersions, SegmentsThatEnginesWillWriteAndThoseOfTheStoreAreKnown) {
  hold(0, 1, {0});
  all_.held[0].held.segments = {{0, 2, {0}}};
  hold(1, 2, {1});
  all_.held[1].held.segments = {{1, 2, {1}}};
  store(1, {1});
  const auto parts = known_parts(id(1), all_, view_);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_THAT(parts[0].ranks, ElementsAre(0U));
  EXPECT_THAT(parts[1].ranks, ElementsAre(1U));
  EXPECT_THAT(known_parts(id(3), all_, view_), IsEmpty());
}

}  // namespace
}  // namespace perdure::client
