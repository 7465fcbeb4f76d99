// Tests chunks that are recovered as guests from a group of nodes in memory. Covers their content, their sources after
// loss or damage, and a lack of room. After a failure no chunk may stay. Also tests descriptions of pieces.
#include <gmock/gmock.h>

#include "engine/ledger/node_state_testing.hpp"
#include "engine/recover/exported_pieces_testing.hpp"
#include "engine/recover/recoverer.hpp"

namespace perdure::engine {
namespace {

using Wanted = std::vector<ipc::WantedChunk>;
constexpr ClientId kLeader = 7;
const segment::VersionId kGuestVersion{"app", 1, {1, 1}};

/// Each node that is asked exports its part of the group.
class GroupInMemory final : public PieceNetwork {
 public:
  explicit GroupInMemory(const ExportedGroup& group) : group_(group) {}
  Address address() const override { return Address(1, std::byte{200}); }
  base::Result<BlockPlace> place(const tier::SlotAddress& slot) override { return BlockPlace{{}, slot.slot}; }
  std::optional<BlockView> view(const BlockPlace&, std::uint64_t) override { return std::nullopt; }
  std::unique_ptr<PieceLink> connect(std::vector<Address> nodes) override {
    return std::make_unique<Link>(*this, std::move(nodes));
  }

  redundancy::Positions lost;                            ///< these do not answer
  std::set<BlockPlace> damaged;                          ///< reads of these return other bytes
  std::map<unsigned, std::vector<BlockPlace>> suspects;  ///< reported to each node
  std::atomic<unsigned> reads = 0;                       ///< `before_read` is called with the number of each read
  std::function<void(unsigned)> before_read = [](unsigned) {};

 private:
  class Link final : public PieceLink {
   public:
    Link(GroupInMemory& all, std::vector<Address> nodes) : all_(all), nodes_(std::move(nodes)) {}
    void close() noexcept override {}
    base::Result<ExportAnswer> ask(unsigned position, const ExportQuestion&) override {
      const auto node = static_cast<unsigned>(nodes_[position][0]);
      if (all_.lost[node]) return base::fail(PERDURE_UNAVAILABLE, "node", "it is lost");
      redundancy::Positions others;
      for (unsigned p = 0; p < 8; ++p) others.set(p, p != node);
      auto exported = all_.group_.exports(others).front();
      exported.address = nodes_[position];
      const auto bytes = encode(exported);
      return ExportAnswer{true, bytes.size(), bytes};
    }
    void tell(unsigned position, const ExportEnd& end) override {
      if (!end.suspects.empty()) all_.suspects[static_cast<unsigned>(nodes_[position][0])] = end.suspects;
    }
    base::Status send(unsigned, base::ConstByteSpan) override { return {}; }
    base::Result<BlockPlace> place(const tier::SlotAddress& slot) override { return all_.place(slot); }
    std::optional<BlockView> view(unsigned, const BlockPlace&, std::uint64_t) override { return std::nullopt; }
    base::Status read(unsigned, const BlockPlace& place, std::uint64_t offset, base::ByteSpan target) override {
      all_.before_read(all_.reads++);
      const auto& bytes = all_.group_.bytes(place);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
      if (all_.damaged.contains(place)) target[0] ^= std::byte{1};
      return {};
    }

   private:
    GroupInMemory& all_;
    std::vector<Address> nodes_;
  };
  const ExportedGroup& group_;
};

class GuestRecovery : public NodeStateFixture {
 protected:
  void begin(const ExportedShape& shape, std::uint64_t seed, const std::vector<std::uint64_t>& slots) {
    open(slots);
    core->guests.admit(kLeader);
    shape_ = shape;
    group_ = std::make_unique<ExportedGroup>(shape, seed);
    nodes_ = std::make_shared<GroupInMemory>(*group_);
  }
  std::vector<ipc::NodeToAsk> to_ask() const {
    std::vector<ipc::NodeToAsk> nodes;
    for (unsigned p = 0; p < shape_.n; ++p) nodes.push_back({std::to_string(p), {std::byte(p)}, {}, {}});
    return nodes;
  }
  Wanted all_chunks() const {
    Wanted all;
    for (std::uint32_t rank = 0; rank < group_->ranks(); ++rank)
      for (std::uint32_t c = 0; c < group_->piece(rank).chunks.size(); ++c) all.push_back({rank, c});
    return all;
  }
  base::Result<ipc::RecoveredGuests> bring(const Wanted& wanted, ClientId client = kLeader) {
    Recoverer recoverer({*ledger, reports, nodes_, nullptr, 2});
    return recoverer.answer(client, ipc::RecoverGuests{kGuestVersion, group_->ranks(), wanted, to_ask()});
  }
  base::Result<ipc::PieceDescriptions> describe(const std::vector<std::uint32_t>& ranks,
                                                std::vector<ipc::NodeToAsk> nodes) {
    Recoverer recoverer({*ledger, reports, nodes_, nullptr, 2});
    return recoverer.answer(kLeader, ipc::DescribePieces{kGuestVersion, 1000, ranks, std::move(nodes)});
  }
  void expect_content(const ipc::GuestChunk& guest) {
    const auto& content = group_->content(guest.rank, guest.chunk);
    ASSERT_EQ(guest.length, content.size());
    std::vector<std::byte> bytes(guest.length);
    base::Hasher hasher;
    tier::SlotIo slots;
    const auto& at = guest.slot;
    ASSERT_TRUE(slots.read({at.tier, at.slot, at.path, at.offset, at.capacity, at.mapped, at.fresh, at.access}, 0,
                           bytes, hasher));
    EXPECT_EQ(bytes, content) << "rank " << guest.rank << ", chunk " << guest.chunk;
    EXPECT_EQ(guest.hash, base::hash128(content));
  }
  Wanted names(const ipc::RecoveredGuests& brought) const {
    Wanted all;
    for (const auto& guest : brought.guests) all.push_back({guest.rank, guest.chunk});
    return all;
  }
  BlockPlace place_of(const ipc::WantedChunk& chunk) const {
    for (const auto& node : group_->exports({}))
      for (const auto& piece : node.pieces)
        if (piece.piece.rank == chunk.rank) return *piece.places[chunk.chunk];
    return {};
  }
  unsigned position_of(std::uint32_t rank) const { return group_->block(rank, 0).position; }

  ExportedShape shape_;
  std::unique_ptr<ExportedGroup> group_;
  std::shared_ptr<GroupInMemory> nodes_;
};

/// At most one position is lost, and its pieces are rebuilt chunk by chunk if the scheme can.
class GuestsOfSchemes : public GuestRecovery, public testing::WithParamInterface<ExportedShape> {};
INSTANTIATE_TEST_SUITE_P(Groups, GuestsOfSchemes, testing::ValuesIn(exported_shapes()),
                         [](const auto& tested) { return exported_shape_name(tested.param); });

TEST_P(GuestsOfSchemes, AreWhatWasLostOrTheReasonAndNothing) {
  const auto& shape = GetParam();
  for (unsigned lost = 0; lost <= shape.n; ++lost) {
    begin(shape, 3, {40});
    if (lost < shape.n) nodes_->lost.set(lost);
    const Wanted wanted = all_chunks();
    const bool can = group_->scheme().survives(shape.n, shape.m, nodes_->lost);
    const auto brought = bring(wanted);
    EXPECT_EQ(used(0), brought ? wanted.size() : 0U);
    if (!can) continue;
    ASSERT_TRUE(brought) << brought.error().text();
    EXPECT_TRUE(brought->all);
    EXPECT_EQ(names(*brought), wanted);
    std::uint64_t bytes = 0;
    for (const auto& guest : brought->guests) {
      expect_content(guest);
      bytes += guest.length;
    }
    EXPECT_EQ(brought->bytes_moved + brought->bytes_rebuilt, bytes);
    EXPECT_EQ(brought->bytes_rebuilt > 0, lost < shape.n && group_->state({}).blocks[lost] > 0);
    EXPECT_EQ(used(0), wanted.size());
    EXPECT_TRUE(core->versions().empty()) << "nothing is held";
    core->guests.go(kLeader, kGuestVersion);
    EXPECT_EQ(used(0), 0U);
  }
}

TEST_F(GuestRecovery, ADamagedSourceIsReplacedAndItsNodeIsTold) {
  begin({"xor", 4, 1}, 11, {40});
  const ipc::WantedChunk chunk{group_->of_position(0).first, group_->of_position(0).second};
  nodes_->damaged = {place_of(chunk)};
  const auto brought = bring({chunk});
  ASSERT_TRUE(brought) << brought.error().text();
  ASSERT_EQ(brought->guests.size(), 1U);
  expect_content(brought->guests[0]);
  EXPECT_EQ(brought->bytes_moved, 0U);
  EXPECT_EQ(brought->bytes_rebuilt, brought->guests[0].length);
  EXPECT_THAT(nodes_->suspects[0], testing::ElementsAre(place_of(chunk)));
  const auto said = taken_reports();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], testing::HasSubstr("it counts as lost"));
  EXPECT_EQ(used(0), 1U) << "the slot of the first try came back";
}

TEST_F(GuestRecovery, WhatCannotBeHadAnyMoreIsToldAndNothingIsThere) {
  begin({"xor", 4, 1}, 11, {40});
  const Wanted all = all_chunks();
  nodes_->damaged.insert(place_of({group_->of_position(0).first, group_->of_position(0).second}));
  nodes_->lost.set(1);
  const auto refused = bring(all);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_CORRUPT) << refused.error().text();
  EXPECT_EQ(used(0), 0U);
  EXPECT_TRUE(core->guests.filled(kGuestVersion).empty());
}

TEST_F(GuestRecovery, ThoseThatFitAreThereAndTheRestComesWhenTheyHaveBeenReturned) {
  for (const std::uint64_t room : {1U, 2U, 3U}) {
    begin({"buddy", 4, 1}, 11, {room});
    nodes_->lost.set(0);
    Wanted left = all_chunks();
    ASSERT_GT(left.size(), 6U);
    for (bool all = false; !all;) {
      const auto brought = bring(left);
      ASSERT_TRUE(brought) << brought.error().text();
      ASSERT_EQ(brought->guests.size(), std::min<std::size_t>(room, left.size()));
      ASSERT_EQ(used(0), brought->guests.size());
      for (const auto& guest : brought->guests) {
        expect_content(guest);
        std::erase(left, ipc::WantedChunk{guest.rank, guest.chunk});
      }
      all = brought->all;
      ASSERT_EQ(all, left.empty());
      core->guests.go(kLeader, kGuestVersion);
      ASSERT_EQ(used(0), 0U);
    }
  }
}

TEST_F(GuestRecovery, WhereNothingFitsThatIsAnErrorThatPasses) {
  begin({"buddy", 4, 1}, 11, {2});
  ASSERT_TRUE(checkpoint(8, 3));
  ASSERT_TRUE(checkpoint(9, 3));
  const Wanted wanted = all_chunks();
  const auto refused = bring(wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_TRUE(refused.error().retryable);
  EXPECT_EQ(used(0), 2U);
  store(8);
  const auto brought = bring(wanted);
  ASSERT_TRUE(brought) << "version 8 may go: " << brought.error().text();
  EXPECT_EQ(brought->guests.size(), 1U);
  EXPECT_EQ(bring(wanted).error().code, PERDURE_NO_SPACE) << "what was not returned is no progress";
  EXPECT_EQ(used(0), 2U);
}

TEST_F(GuestRecovery, WhatThisLaunchCannotHaveGoesOnlyWhereNothingElseWould) {
  begin({"buddy", 4, 1}, 11, {2});
  const auto slot = grant(3, id(8)).address;
  ASSERT_TRUE(core->held.stage(3, staged(id(8), {slot})));
  core->held.client_gone(3);
  core->held.keep_remains(id(8));
  Wanted wanted = all_chunks();
  const auto first = bring(wanted);
  ASSERT_TRUE(first && first->guests.size() == 1);
  EXPECT_NE(core->find(id(8)), nullptr);
  std::erase(wanted, names(*first)[0]);  // the threads decide which of them finds the free slot
  EXPECT_EQ(bring(wanted)->guests.size(), 1U);
  EXPECT_EQ(core->find(id(8)), nullptr);
}

TEST_F(GuestRecovery, WhatTheClientHasBroughtIsNotBroughtAgain) {
  begin({"buddy", 4, 1}, 11, {40});
  const Wanted wanted = all_chunks();
  ASSERT_TRUE(bring({wanted[0], wanted[2]}));
  nodes_->reads = 0;
  const auto brought = bring({wanted[0], wanted[1], wanted[2]});
  ASSERT_TRUE(brought && brought->all) << brought.error().text();
  EXPECT_EQ(names(*brought), Wanted({wanted[0], wanted[1], wanted[2]}));
  for (const auto& guest : brought->guests) expect_content(guest);
  EXPECT_EQ(nodes_->reads, 1U);
  EXPECT_EQ(used(0), 3U);
  core->guests.admit(kLeader + 1);
  const auto others = bring({wanted[0]}, kLeader + 1);
  ASSERT_TRUE(others);
  EXPECT_NE(others->guests[0].slot.slot, brought->guests[0].slot.slot);
  core->client_gone(kLeader);
  expect_content(others->guests[0]);
  EXPECT_EQ(used(0), 1U);
}

TEST_F(GuestRecovery, ChunksThatThereAreNotAreRefusedBeforeAnythingIsBrought) {
  begin({"xor", 4, 1}, 11, {40});
  const auto chunks = static_cast<std::uint32_t>(group_->piece(0).chunks.size());
  for (const std::uint32_t beyond : {chunks, chunks + 1, ~0U}) {
    const auto refused = bring({{0, 0}, {0, beyond}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(bring({{0, 0}, {999, 0}}).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(nodes_->reads, 0U);
  EXPECT_EQ(used(0), 0U);
  const auto nothing = bring({});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->all);
}

TEST_F(GuestRecovery, NothingStaysForAClientThatEndsMeanwhile) {
  begin({"buddy", 4, 1}, 11, {40});
  nodes_->before_read = [&](unsigned number) {
    if (number != 2) return;
    const auto state = ledger->lock();
    state->client_gone(kLeader);
  };
  const auto refused = bring(all_chunks());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_CLOSED);
  EXPECT_EQ(used(0), 0U);
}

TEST_F(GuestRecovery, AVersionThatIsRetiredMeanwhileLeavesItsGuests) {
  begin({"buddy", 4, 1}, 11, {40});
  nodes_->before_read = [&](unsigned number) {
    if (number != 2) return;
    const auto state = ledger->lock();
    EXPECT_TRUE(state->held.retire({"app", 1}));
  };
  const auto brought = bring(all_chunks());
  ASSERT_TRUE(brought && brought->all);
  for (const auto& guest : brought->guests) expect_content(guest);
}

TEST_F(GuestRecovery, PiecesAreDescribedAlsoWhenTheyAreLost) {
  begin({"xor", 4, 1}, 11, {40});
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < group_->ranks(); ++rank) ranks.push_back(rank);
  for (unsigned lost = 0; lost <= 4; ++lost) {
    nodes_->lost = lost < 4 ? redundancy::Positions(1ULL << lost) : redundancy::Positions();
    const auto reply = describe(ranks, to_ask());
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_TRUE(reply->all);
    ASSERT_EQ(reply->pieces.size(), ranks.size());
    for (const std::uint32_t rank : ranks) {
      const auto& piece = group_->piece(rank);
      EXPECT_EQ(reply->pieces[rank].rank, rank);
      EXPECT_EQ(reply->pieces[rank].chunk_bytes, piece.chunk_bytes);
      EXPECT_EQ(reply->pieces[rank].chunks, piece.chunks.size());
      EXPECT_EQ(reply->pieces[rank].regions, piece.regions);
    }
  }
  EXPECT_EQ(nodes_->reads, 0U);
  EXPECT_EQ(used(0), 0U);
}

TEST_F(GuestRecovery, OfWhomNobodyHasAnythingNothingIsSaid) {
  begin({"xor", 4, 1}, 11, {40});
  const auto reply = describe({0, 998, 999}, to_ask());
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->pieces.size(), 1U);
  const auto none = describe({0}, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->pieces.empty() && none->all) << "nobody was asked, and nothing is here";
}

TEST_F(GuestRecovery, WhatIsHereIsDescribedWithoutAnyNetwork) {
  begin({"xor", 4, 1}, 11, {40});
  const auto slot = grant(3, kGuestVersion).address;
  auto stage = staged(kGuestVersion, {slot}, 500);
  stage.ranks = 1000;
  stage.piece.regions[0].attributes["name"] = std::string("density");
  ASSERT_TRUE(core->held.stage(3, stage));
  nodes_ = nullptr;
  const auto reply = describe({0, 500}, {});
  ASSERT_TRUE(reply) << reply.error().text();
  ASSERT_EQ(reply->pieces.size(), 1U);
  EXPECT_EQ(reply->pieces[0].rank, 500U);
  EXPECT_EQ(reply->pieces[0].regions, stage.piece.regions);
}

}  // namespace
}  // namespace perdure::engine
