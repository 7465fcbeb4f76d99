// Tests which client brought which guest, and that its slot comes back exactly once, whatever happens to its version.
#include "engine/ledger/guests.hpp"

#include <gmock/gmock.h>

#include "engine/ledger/redundancy_testing.hpp"

namespace perdure::engine {
namespace {

using Kind = GrantOutcome::Kind;
constexpr ClientId kReader = 1, kOther = 2, kCapturer = 3;

class GuestsOfANode : public RedundancyFixture {
 protected:
  GuestsOfANode() { admitted({4}); }
  void admitted(const std::vector<std::uint64_t>& slots) {
    open(slots);
    core->guests.admit(kReader);
    core->guests.admit(kOther);
  }
  /// Takes a slot that the client is to fill.
  SlotKey expected(ClientId client, ChunkName name, std::uint64_t version = 1) {
    const auto slot = take(version);
    EXPECT_TRUE(core->guests.expect(client, id(version), name, {slot.tier, slot.slot}, kChunk));
    return {slot.tier, slot.slot};
  }
  base::Status hosted(ClientId client, ChunkName name, std::uint64_t version = 1) {
    const auto slot = take(version);
    auto status = core->guests.host(client, id(version), {{name, {slot.slot, kChunk, content_hash(), slot.tier}}});
    if (!status) core->room.give_back({slot.tier, slot.slot});
    return status;
  }
  base::Status filled(ClientId client, ChunkName name, std::uint64_t length = kChunk, std::uint64_t version = 1) {
    return core->guests.fill(client, id(version), name, length, content_hash());
  }
  std::vector<ChunkName> found(ChunkName from = {}, std::uint64_t version = 1) const {
    std::vector<ChunkName> names;
    for (const auto& [name, guest] : core->guests.filled(id(version), from)) names.push_back(name);
    return names;
  }
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(GuestsOfANode, TakeRoomUntilTheirClientReturnsThem) {
  ASSERT_TRUE(hosted(kReader, {0, 1}));
  ASSERT_TRUE(hosted(kReader, {3, 0}));
  ASSERT_TRUE(hosted(kReader, {3, 0}, 2)) << "of another version";
  EXPECT_EQ(used(0), 3U);
  core->guests.go(kReader, id(1));
  EXPECT_EQ(used(0), 1U);
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(found({}, 2), ElementsAre(ChunkName{3, 0}));
  core->client_gone(kReader);
  EXPECT_EQ(used(0), 0U);
}

TEST_F(GuestsOfANode, GoOnceThoughTheirSlotIsSomebodyElsesByThen) {
  ASSERT_TRUE(hosted(kReader, {0, 0}));
  core->guests.go(kReader, id(1));
  ASSERT_TRUE(checkpoint(9));  // in the slot that became free
  ASSERT_TRUE(hosted(kOther, {0, 0}));
  ASSERT_EQ(used(0), 2U);
  core->guests.go(kReader, id(1));
  core->client_gone(kReader);
  core->client_gone(kReader);
  EXPECT_EQ(used(0), 2U);
  EXPECT_THAT(found(), ElementsAre(ChunkName{0, 0}));
}

TEST_F(GuestsOfANode, OfTwoClientsEachHasItsOwn) {
  ASSERT_TRUE(hosted(kReader, {0, 0}));
  ASSERT_TRUE(hosted(kOther, {0, 0}));
  ASSERT_TRUE(hosted(kOther, {0, 1}));
  EXPECT_THAT(found(), ElementsAre(ChunkName{0, 0}, ChunkName{0, 1})) << "whoever brought it, and once";
  EXPECT_THAT(found({0, 1}), ElementsAre(ChunkName{0, 1}));
  core->client_gone(kOther);
  EXPECT_EQ(used(0), 1U);
  EXPECT_THAT(found(), ElementsAre(ChunkName{0, 0})) << "the other one's";
  EXPECT_EQ(core->guests.find(kOther, id(1), {0, 0}), nullptr);
  EXPECT_NE(core->guests.find(kReader, id(1), {0, 0}), nullptr);
}

TEST_F(GuestsOfANode, AreBroughtOnceByAClientAndByNobodyWhoIsGone) {
  ASSERT_TRUE(hosted(kReader, {0, 0}));
  EXPECT_EQ(hosted(kReader, {0, 0}).error().code, PERDURE_EXISTS);
  EXPECT_EQ(hosted(kCapturer, {0, 0}).error().code, PERDURE_CLOSED) << "never admitted";
  core->client_gone(kReader);
  EXPECT_EQ(hosted(kReader, {0, 1}).error().code, PERDURE_CLOSED);
  EXPECT_EQ(used(0), 0U);
}

TEST_F(GuestsOfANode, AreAllHostedOrNone) {
  ASSERT_TRUE(hosted(kReader, {0, 1}));
  const auto slot = take(1);
  const segment::ChunkEntry chunk{slot.slot, kChunk, content_hash(), slot.tier};
  EXPECT_FALSE(core->guests.host(kReader, id(1), {{{0, 0}, chunk}, {{0, 1}, chunk}}));
  EXPECT_EQ(core->guests.find(kReader, id(1), {0, 0}), nullptr);
  core->room.give_back({slot.tier, slot.slot});
  EXPECT_EQ(used(0), 1U);
}

TEST_F(GuestsOfANode, AreFoundWhenTheirClientHasFilledThem) {
  const SlotKey slot = expected(kReader, {2, 7});
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_EQ(filled(kOther, {2, 7}).error().code, PERDURE_NOT_FOUND) << "another client's";
  EXPECT_EQ(filled(kReader, {2, 8}).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(filled(kReader, {2, 7}, kChunk + 1).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(found(), IsEmpty());
  ASSERT_TRUE(filled(kReader, {2, 7}, kChunk - 1));
  EXPECT_TRUE(filled(kReader, {2, 7}, kChunk - 1)) << "again";
  EXPECT_EQ(filled(kReader, {2, 7}, 5).error().code, PERDURE_INVALID_ARGUMENT) << "something else";
  const auto all = core->guests.filled(id(1));
  ASSERT_EQ(all.size(), 1U);
  const auto told = core->guests.in_message({2, 7}, all.at({2, 7}));
  EXPECT_EQ(told.rank, 2U);
  EXPECT_EQ(told.chunk, 7U);
  EXPECT_EQ(SlotKey(told.slot.tier, told.slot.slot), slot);
  EXPECT_EQ(told.length, kChunk - 1);
  EXPECT_EQ(told.hash, content_hash());
  EXPECT_FALSE(told.slot.fresh);
}

TEST_F(GuestsOfANode, AreNotFreshMemoryForWhoReadsThemOrHasTheirSlotNext) {
  close();
  std::vector<std::unique_ptr<tier::Tier>> tiers;
  tiers.push_back(std::move(*tier::make_tier("memory", {0, directory / "memory", 2 * base::MiB, 8 * base::MiB})));
  make(std::move(tiers), {});
  ASSERT_TRUE(core->recover());
  core->guests.admit(kReader);
  const auto first = take(1), second = take(1);
  ASSERT_TRUE(first.fresh && second.fresh);
  const Guest to_come{{first.tier, first.slot}, kChunk, content_hash(), true};
  EXPECT_FALSE(core->guests.in_message({0, 0}, to_come).slot.fresh) << "told before it is hosted";
  ASSERT_TRUE(core->guests.host(kReader, id(1), {{{0, 0}, {first.slot, kChunk, content_hash(), first.tier}}}));
  ASSERT_TRUE(core->guests.expect(kReader, id(1), {0, 1}, {second.tier, second.slot}, kChunk));
  EXPECT_FALSE(core->tiers()[0]->address(first.slot).fresh);
  EXPECT_TRUE(core->tiers()[0]->address(second.slot).fresh);
  ASSERT_TRUE(filled(kReader, {0, 1}));
  EXPECT_FALSE(core->tiers()[0]->address(second.slot).fresh);
}

TEST_F(GuestsOfANode, GoThoughNobodyHasFilledThem) {
  (void)expected(kReader, {0, 0});
  (void)expected(kReader, {0, 1});
  core->guests.go(kReader, id(1));
  EXPECT_EQ(used(0), 0U);
  EXPECT_EQ(filled(kReader, {0, 0}).error().code, PERDURE_NOT_FOUND);
}

TEST_F(GuestsOfANode, NeitherTheCatalogNorAFlushNorAnExportKnowsThem) {
  ASSERT_TRUE(hosted(kReader, {0, 0}));
  (void)expected(kReader, {0, 1});
  EXPECT_EQ(core->find(id(1)), nullptr);
  EXPECT_TRUE(core->versions().empty());
  EXPECT_FALSE(core->flushes.next());
  EXPECT_TRUE(core->held.inventory("").empty());
  EXPECT_TRUE(core->held.export_pieces(id(1)).pieces.empty());
  EXPECT_EQ(core->pending_versions(), 0U);
  EXPECT_FALSE(core->holds_unstored());
}

TEST_F(GuestsOfANode, AreNotKeptAsAPieceOrGivenBackAsRedundancy) {
  ASSERT_TRUE(hosted(kReader, {0, 0}));
  const SlotKey slot = core->guests.find(kReader, id(1), {0, 0})->slot;
  core->room.give_back(slot);
  EXPECT_EQ(used(0), 1U);
  segment::Piece piece{0, kChunk, {{0, 1, kChunk}}, {{slot.second, kChunk, content_hash(), slot.first}}};
  EXPECT_EQ(core->held.adopt(id(1), 1, piece).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_FALSE(core->redundancy.keep(redundancy_set(1, {core->tiers()[slot.first]->address(slot.second)})));
  core->guests.go(kReader, id(1));
  EXPECT_EQ(used(0), 0U);
}

TEST_F(GuestsOfANode, AreNotTouchedWhenTheirVersionIsRetiredAbortedOrEvicted) {
  for (int how = 0; how < 3; ++how) {
    admitted({4});
    ASSERT_TRUE(checkpoint(1));
    ASSERT_TRUE(hosted(kReader, {3, 0}));
    ASSERT_EQ(used(0), 2U);
    if (how == 0) {
      ASSERT_TRUE(core->held.retire({"app", 1}));
    } else if (how == 1) {
      (void)core->held.abort(kReader, id(1));  // fails, since it is committed
      ASSERT_TRUE(core->held.drop(id(1)));
      ASSERT_TRUE(core->held.abort(kReader, id(1)));
    } else {
      store(1);
      for (std::uint64_t version = 2; version <= 4; ++version) ASSERT_TRUE(checkpoint(version, kCapturer)) << version;
      EXPECT_EQ(core->find(id(1)), nullptr);
      for (std::uint64_t version = 2; version <= 4; ++version) ASSERT_TRUE(core->held.drop(id(version)));
    }
    EXPECT_EQ(used(0), 1U) << how;
    EXPECT_THAT(found(), ElementsAre(ChunkName{3, 0}));
    core->guests.go(kReader, id(1));
    EXPECT_EQ(used(0), 0U) << how;
  }
}

TEST_F(GuestsOfANode, AnEngineThatStartsAgainHasItsRoomWhole) {
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(hosted(kReader, {3, 0}));
  (void)expected(kReader, {3, 1});
  ASSERT_EQ(used(0), 3U);
  admitted({4});  // no client returned a guest
  EXPECT_EQ(used(0), 1U) << "what is in the catalog";
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(taken_reports(), IsEmpty());
  for (std::uint32_t c = 0; c < 3; ++c) EXPECT_TRUE(hosted(kReader, {3, c}));
}

TEST_F(GuestsOfANode, ACaptureWaitsForThoseOfOthersAndGetsTheirSlot) {
  for (std::uint32_t c = 0; c < 4; ++c) ASSERT_TRUE(hosted(kReader, {0, c}));
  EXPECT_EQ(grant(kCapturer, id(9)).kind, Kind::wait);
  EXPECT_EQ(grant(kCapturer, id(9), {0}).kind, Kind::refused) << "it cannot write that tier";
  EXPECT_EQ(grant(kReader, id(9)).kind, Kind::refused) << "it would wait for itself";
  core->guests.go(kReader, id(1));
  EXPECT_EQ(grant(kCapturer, id(9)).kind, Kind::granted);
}

TEST_F(GuestsOfANode, NothingGoesForAChunkThatNoTierTakes) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  for (const std::uint64_t bytes : {std::uint64_t{1} << 40, ~std::uint64_t{0}})  // more than the tiers' limits
    EXPECT_EQ(core->room.take_for_redundancy(id(2), bytes).error().code, PERDURE_NO_SPACE);
  EXPECT_NE(core->find(id(1)), nullptr);
}

TEST_F(GuestsOfANode, MoreThanWhatTheStoreHasGoesOnlyWhereThatIsSaid) {
  admitted({1});
  const auto slot = grant(kCapturer, id(1)).address;
  ASSERT_TRUE(core->held.stage(kCapturer, staged(id(1), {slot})));
  core->held.client_gone(kCapturer);
  core->held.keep_remains(id(1));
  EXPECT_FALSE(core->room.take_for_redundancy(id(2), kChunk, EvictionScope::stored));
  EXPECT_NE(core->find(id(1)), nullptr);
  EXPECT_TRUE(core->room.take_for_redundancy(id(2), kChunk));
  EXPECT_EQ(core->find(id(1)), nullptr);
}

}  // namespace
}  // namespace perdure::engine
