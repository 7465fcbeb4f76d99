// Tests launches that lack one of the tiers, or have them in another order. The content of the missing one is kept, not
// used, and found again.
#include <gmock/gmock.h>

#include "engine/ledger/on_their_way.hpp"
#include "engine/ledger/redundancy_share.hpp"
#include "engine/ledger/redundancy_testing.hpp"
#include "tier/leaving_tier.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

class UnreachableTier : public RedundancyFixture {
 protected:
  /// Launches with tiers of two slots each, in this order. A negative number: the tier takes nothing new (-1: tier 0).
  void launch(const std::vector<int>& which, NodeStateOptions placing = {}) {
    close();
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    for (const int number : which) {
      const std::string place = directory / ("tier" + std::to_string(number < 0 ? -number - 1 : number));
      auto tier =
          std::move(*tier::make_tier("file", {static_cast<std::uint32_t>(tiers.size()), place, kChunk, 2 * kChunk}));
      tiers.push_back(number < 0 ? tier::leave(std::move(tier)) : std::move(tier));
    }
    make(std::move(tiers), std::move(placing));
    ASSERT_TRUE(core->recover());
  }
  /// Makes version 1 with a chunk on each of two tiers, and version 2 with one on the first.
  void fill() {
    launch({0, 1});
    first = grant(1, id(1)).address;
    second = grant(1, id(1), {0}).address;
    ASSERT_EQ(first.tier, 0U);
    ASSERT_EQ(second.tier, 1U);
    ASSERT_TRUE(core->held.stage(1, staged(id(1), {first, second})));
    ASSERT_TRUE(core->held.commit(commit_of(id(1))));
    ASSERT_TRUE(checkpoint(2));
    (void)taken_reports();
  }
  std::string path_of(std::uint64_t version, std::size_t chunk) {
    return core->address(core->find(id(version))->pieces.at(0).chunks[chunk]).path;
  }
  tier::SlotAddress first, second;
};

TEST_F(UnreachableTier, InAnotherOrderEverythingIsWhereItWas) {
  fill();
  launch({1, 0});
  EXPECT_EQ(path_of(1, 0), first.path);
  EXPECT_EQ(path_of(1, 1), second.path);
  EXPECT_EQ(core->find(id(1))->pieces.at(0).chunks[0].place, 1U);
  EXPECT_EQ(used(0), 1U);
  EXPECT_EQ(used(1), 2U);
  EXPECT_THAT(taken_reports(), IsEmpty());
}

TEST_F(UnreachableTier, WhatIsOnItIsThereButCannotBeHadUntilItIsBack) {
  fill();
  launch({1});
  const auto inventory = core->held.inventory("app");
  ASSERT_EQ(inventory.size(), 2U);
  EXPECT_THAT(inventory[0].held, IsEmpty());
  EXPECT_THAT(inventory[0].unreachable, ElementsAre(0U));
  EXPECT_FALSE(core->held.locate(1, id(1), 0));
  EXPECT_TRUE(core->held.export_pieces(id(1)).pieces.empty());
  EXPECT_TRUE(core->holds_unstored()) << "its directories stay";
  launch({0, 1});
  EXPECT_EQ(path_of(1, 0), first.path);
  EXPECT_EQ(path_of(1, 1), second.path);
  EXPECT_TRUE(core->find(id(2))->restorable(0));
  EXPECT_EQ(core->flushes.next(), id(1));
}

TEST_F(UnreachableTier, ItsVersionsKeepTheirSlotsOnTheOthers) {
  fill();
  launch({1});
  EXPECT_EQ(used(0), 1U);
  EXPECT_EQ(grant(1, id(3)).kind, Kind::granted);
  EXPECT_NE(grant(1, id(3)).kind, Kind::granted) << "the other slot is version 1's";
}

TEST_F(UnreachableTier, NothingWaitsForItsFlushAndLaterOnesGoOn) {
  fill();
  launch({1});
  EXPECT_FALSE(core->flushes.next());
  EXPECT_EQ(core->pending_versions(), 0U);
  EXPECT_EQ(core->given_up_versions(), 2U);
  ASSERT_TRUE(core->last_flush_error());
  EXPECT_EQ(core->last_flush_error()->code, PERDURE_UNAVAILABLE);
  ASSERT_TRUE(checkpoint(3));
  EXPECT_EQ(core->flushes.next(), id(3));
  EXPECT_EQ(core->given_up_versions(), 2U) << "a commit gives no other chance to what is not there";
  EXPECT_TRUE(core->flushes.may_be_published(id(3)));
}

TEST_F(UnreachableTier, WhatIsNotThereIsNoReasonToGiveUpWhatIs) {
  launch({0, 1});
  ASSERT_TRUE(checkpoint(1));  // on the first tier
  const auto newer = grant(1, id(2), {0});
  ASSERT_TRUE(core->held.stage(1, staged(id(2), {newer.address})));
  ASSERT_TRUE(core->held.commit(commit_of(id(2))));
  launch({0});
  const auto view = core->room.observe(0);
  ASSERT_EQ(view.versions.size(), 2U);
  EXPECT_EQ(view.versions[0].unreachable, 0U);
  EXPECT_GT(view.versions[1].unreachable, 0U);
}

TEST_F(UnreachableTier, OnlyANewerVersionThatTheStoreHasWholeLetsItGo) {
  fill();
  launch({1});
  EXPECT_TRUE(any_unreachable(*core, "app"));
  EXPECT_FALSE(any_unreachable(*core, "other"));
  ASSERT_TRUE(core->flushes.drop_unreachable("app", id(1).attempt));
  ASSERT_TRUE(core->flushes.drop_unreachable("other", id(9).attempt));
  EXPECT_NE(core->find(id(1)), nullptr) << "it is not newer than itself";
  (void)taken_reports();
  ASSERT_TRUE(core->flushes.drop_unreachable("app", id(2).attempt));
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_NE(core->find(id(2)), nullptr);
  EXPECT_EQ(used(0), 0U) << "its slot on the tier that is here is free";
  EXPECT_THAT(taken_reports(), ElementsAre(testing::HasSubstr("the store has a newer version")));
  launch({0, 1});
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_EQ(used(0), 1U) << "nor is it waited for when the tier is back";
}

TEST_F(UnreachableTier, APieceThatIsRebuiltMeanwhileTakesItsPlace) {
  fill();
  launch({1});
  const auto slot = take(1);
  ASSERT_TRUE(core->held.adopt(id(1), 1, staged(id(1), {slot}).piece));
  EXPECT_TRUE(core->find(id(1))->restorable(0));
  EXPECT_THAT(core->held.inventory("app")[0].unreachable, IsEmpty());
  EXPECT_EQ(used(0), 1U) << "the slot of the piece before is free";
  launch({0, 1});
  EXPECT_EQ(path_of(1, 0), slot.path);
  EXPECT_EQ(used(0), 1U) << "version 2's";
}

TEST_F(UnreachableTier, WhatIsKeptThereForOthersIsMissingUntilItIsBack) {
  launch({0, 1});
  auto kept = redundancy_set(1, {take(1)});
  const auto names = blocks_to_keep(kept, kept.position);
  ASSERT_FALSE(names.empty());
  kept.kept = {{names.begin()->second, kept.kept.begin()->second}};
  ASSERT_TRUE(core->redundancy.keep(kept));
  const auto kept_id = protection_id(1);
  ASSERT_TRUE(core->redundancy.reached(kept_id));
  const auto missing = core->redundancy.inventory("app")[0].missing;
  launch({1});
  ASSERT_EQ(core->redundancy.inventory("app").size(), 1U);
  EXPECT_GT(core->redundancy.inventory("app")[0].missing.size(), missing.size());
  EXPECT_FALSE(core->redundancy.at_node_level(id(1)));
  EXPECT_TRUE(core->redundancy.needed_by_others()) << "its directories stay";
  launch({0, 1});
  EXPECT_EQ(core->redundancy.inventory("app")[0].missing, missing);
  EXPECT_TRUE(core->redundancy.find(kept_id)->reached);
}

TEST_F(UnreachableTier, OneThatLeavesIsReadAndGivesNoSlot) {
  fill();
  launch({1, -1});
  EXPECT_EQ(path_of(1, 0), first.path);
  EXPECT_EQ(core->outlook.tiers(0, {{}, kChunk, 0, {}, {}}, false, EvictionScope::stored).size(), 1U);
  const auto granted = grant(1, id(3));
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_EQ(granted.address.tier, 0U);
  store(1);
  store(2);
  EXPECT_EQ(grant(1, id(3)).kind, Kind::granted) << "version 1 goes";
  EXPECT_EQ(grant(1, id(3)).kind, Kind::refused) << "what version 2 has is on a tier that nobody gets";
  EXPECT_NE(core->find(id(2)), nullptr);
  EXPECT_FALSE(core->room.take_for_redundancy(id(4), kChunk));
  EXPECT_FALSE(core->room.take_spare(id(4), kChunk));
}

}  // namespace
}  // namespace perdure::engine
