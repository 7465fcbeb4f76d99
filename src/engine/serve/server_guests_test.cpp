// Tests guests through messages: one client brings them for the others of its node, and they go with it.
#include <gmock/gmock.h>

#include "base/bytes.hpp"
#include "engine/host/engine_testing.hpp"
#include "os/file.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kGuestBytes = 64 * base::KiB, kGuestSlots = 4;

class ServerOfGuests : public EngineFixture {
 protected:
  void SetUp() override { open("xor"); }
  void open(const std::string& scheme) {
    const auto started = start("redundancy.scheme=" + scheme +
                               ";network.bind=lo;chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=256KiB");
    ASSERT_TRUE(started) << started.error().text();
    leader_ = client(0);
    neighbour_ = client(1);
  }
  /// Starts another engine of the job, with its rank's checkpoint of two chunks.
  void open_other() {
    auto claimed = claim(config_, "there");
    ASSERT_TRUE(claimed) << claimed.error().text();
    other_ = std::move(*Engine::start(config_, std::get<Claim>(std::move(*claimed)), false));
    others_rank_ = ipc::Channel::connect(other_->socket_path()).value();
    ASSERT_TRUE(others_rank_.call(hello()));
    mine_ = open_network(leader_);
    theirs_ = open_network(others_rank_);
    segment::Piece piece{0, kGuestBytes, {{0, 1, 2 * kGuestBytes}}, {}};
    for (int c = 0; c < 2; ++c) {
      const auto granted = others_rank_.call(ipc::Grant{id_, kGuestBytes, 0, {}, {}});
      ASSERT_TRUE(granted) << granted.error().text();
      const auto hash = written(granted->slot, static_cast<std::byte>(c));
      piece.chunks.push_back({granted->slot.slot, kGuestBytes, hash, granted->slot.tier});
    }
    ASSERT_TRUE(others_rank_.call(ipc::Stage{id_, 1, piece}));
  }
  static std::vector<std::byte> open_network(ipc::Channel& channel) {
    const auto opened = channel.call(ipc::OpenNetwork{std::vector<std::byte>(32, std::byte{7})});
    EXPECT_TRUE(opened) << opened.error().text();
    return opened->address;
  }
  /// Slots of the file tier are files.
  static base::Hash128 written(const ipc::SlotAddress& slot, std::byte value) {
    const std::vector<std::byte> bytes(kGuestBytes, value);
    EXPECT_TRUE(os::File::open(slot.path, os::Open::read_write)->write(slot.offset, bytes));
    return base::hash128(bytes);
  }
  static void expect_content(const ipc::GuestChunk& guest, std::byte value) {
    std::vector<std::byte> bytes(guest.length);
    ASSERT_TRUE(os::File::open(guest.slot.path, os::Open::read)->read(guest.slot.offset, bytes));
    EXPECT_EQ(bytes, std::vector<std::byte>(kGuestBytes, value));
    EXPECT_EQ(base::hash128(bytes), guest.hash);
  }
  base::Result<ipc::GuestSlot> take(ipc::Channel& from, std::uint32_t chunk, std::uint64_t bytes = kGuestBytes) {
    return from.call(ipc::GrantGuest{id_, 3, chunk, bytes});
  }
  void fill(ipc::Channel& from, std::uint32_t chunk) {
    const auto slot = take(from, chunk);
    ASSERT_TRUE(slot) << slot.error().text();
    const auto hash = written(slot->slot, static_cast<std::byte>(chunk));
    ASSERT_TRUE(from.call(ipc::GuestWritten{id_, 3, chunk, kGuestBytes, hash}));
  }
  void fill_all() {
    for (std::uint32_t c = 0; c < kGuestSlots; ++c) ASSERT_TRUE(take(leader_, c));
  }
  std::vector<ipc::GuestChunk> found(ipc::Channel& by, ipc::WantedChunk from = {}) {
    const auto found = by.call(ipc::ListGuests{id_, from});
    EXPECT_TRUE(found && found->all);
    return found ? found->guests : std::vector<ipc::GuestChunk>();
  }
  ipc::RecoverGuests bring(std::vector<ipc::WantedChunk> wanted) const {
    return {id_, 1, std::move(wanted), {{"there", theirs_, {0}, {0}}, {"here", mine_, {0}, {0}}}};
  }
  void expect_room_for_all(ipc::Channel& by) {
    for (std::uint32_t c = 0; c < kGuestSlots; ++c) EXPECT_TRUE(take(by, c)) << c;
  }

  ipc::Channel leader_, neighbour_, others_rank_;
  std::unique_ptr<Engine> other_;
  std::vector<std::byte> mine_, theirs_;
  const segment::VersionId id_{"app", 1, {1, 1}};
};

TEST_F(ServerOfGuests, WhatAClientFillsOthersFindUntilItIsReturned) {
  fill(leader_, 5);
  fill(leader_, 2);
  ASSERT_TRUE(take(leader_, 9));  // not filled
  auto guests = found(neighbour_);
  ASSERT_EQ(guests.size(), 2U);
  EXPECT_EQ(guests[0].chunk, 2U);
  EXPECT_EQ(guests[1].chunk, 5U);
  EXPECT_EQ(guests[1].rank, 3U);
  expect_content(guests[0], std::byte{2});
  expect_content(guests[1], std::byte{5});
  EXPECT_EQ(found(neighbour_, {3, 3}).size(), 1U);
  EXPECT_TRUE(found(neighbour_, {3, 6}).empty());
  ASSERT_TRUE(neighbour_.call(ipc::ReleaseGuests{id_}));
  EXPECT_EQ(found(neighbour_).size(), 2U) << "they are the leader's";
  const auto held = leader_.call(ipc::Inventory{"", false});
  EXPECT_TRUE(held && held->held.empty());
  ASSERT_TRUE(leader_.call(ipc::ReleaseGuests{id_}));
  EXPECT_TRUE(found(neighbour_).empty());
  expect_room_for_all(neighbour_);
}

TEST_F(ServerOfGuests, ASlotIsThereAtOnceOrNot) {
  fill_all();
  const auto refused = take(neighbour_, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_TRUE(refused.error().retryable);
  EXPECT_EQ(take(leader_, 0).error().code, PERDURE_EXISTS);
  EXPECT_EQ(take(neighbour_, 0, ~std::uint64_t{0}).error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(neighbour_.call(ipc::GuestWritten{id_, 3, 0, 5, {}}).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(leader_.call(ipc::GuestWritten{id_, 3, 0, kGuestBytes + 1, {}}).error().code, PERDURE_INVALID_ARGUMENT);
}

// A client that is refused a slot reads the store itself, but a version that is only here would be lost.
TEST_F(ServerOfGuests, NothingThatIsOnlyHereGoesForASlot) {
  const segment::VersionId remains{"app", 2, {2, 1}};
  segment::Piece piece{1, kGuestBytes, {{0, 1, kGuestSlots * kGuestBytes}}, {}};
  for (std::uint64_t c = 0; c < kGuestSlots; ++c) {
    const auto granted = neighbour_.call(ipc::Grant{remains, kGuestBytes, 0, {}, {}});
    ASSERT_TRUE(granted) << granted.error().text();
    piece.chunks.push_back({granted->slot.slot, kGuestBytes, written(granted->slot, std::byte{1}), granted->slot.tier});
  }
  ASSERT_TRUE(neighbour_.call(ipc::Stage{remains, 2, piece}));
  ASSERT_TRUE(leader_.call(ipc::KeepRemains{remains}));
  EXPECT_EQ(take(leader_, 0).error().code, PERDURE_NO_SPACE);
  const auto held = leader_.call(ipc::Inventory{"", false});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->held.size(), 1U);
}

TEST_F(ServerOfGuests, WhoWaitsForASlotGetsItWhenTheyAreReturnedOrTheirClientEnds) {
  for (const bool ends : {false, true}) {
    fill_all();
    const auto waiting = neighbour_.post(ipc::Grant{{"app", 2, {2, 1}}, kGuestBytes, 0, {}, {}}).value();
    EXPECT_TRUE(leader_.call(ipc::Progress{}));
    if (ends)
      leader_.close();
    else
      ASSERT_TRUE(leader_.call(ipc::ReleaseGuests{id_}));
    const auto granted = neighbour_.await(waiting, 60'000'000'000);
    ASSERT_TRUE(granted) << granted.error().text();
    ASSERT_TRUE(neighbour_.call(ipc::Abort{{"app", 2, {2, 1}}}));
  }
  expect_room_for_all(neighbour_);
}

TEST_F(ServerOfGuests, ComeFromAnotherEngineAndAreHeldByNobody) {
  open_other();
  const auto described = neighbour_.call(ipc::DescribePieces{id_, 2, {0, 1}, {{"there", theirs_, {0, 1}, {}}}});
  ASSERT_TRUE(described) << described.error().text();
  ASSERT_EQ(described->pieces.size(), 1U);
  EXPECT_EQ(described->pieces[0].chunks, 2U);
  const auto brought = leader_.call(bring({{0, 1}}));
  ASSERT_TRUE(brought) << brought.error().text();
  EXPECT_TRUE(brought->all);
  EXPECT_EQ(brought->bytes_moved, kGuestBytes);
  ASSERT_EQ(brought->guests.size(), 1U);
  expect_content(brought->guests[0], std::byte{1});
  const auto again = neighbour_.call(bring({{0, 0}, {0, 1}}));
  ASSERT_TRUE(again && again->all) << again.error().text();
  ASSERT_EQ(found(neighbour_).size(), 2U);
  neighbour_.close();
  EXPECT_TRUE(leader_.call(ipc::Progress{}));
  const auto held = leader_.call(ipc::Inventory{"", false});
  EXPECT_TRUE(held && held->held.empty());
  EXPECT_FALSE(leader_.call(ipc::Locate{id_, 0}));
}

TEST_F(ServerOfGuests, ThoseThatFitAreBroughtAndThenTheRest) {
  open_other();
  for (std::uint32_t c = 0; c + 1 < kGuestSlots; ++c) ASSERT_TRUE(take(neighbour_, c));
  const auto first = leader_.call(bring({{0, 0}, {0, 1}}));
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_FALSE(first->all);
  ASSERT_EQ(first->guests.size(), 1U);
  const std::uint32_t left = 1 - first->guests[0].chunk;
  EXPECT_EQ(leader_.call(bring({{0, left}})).error().code, PERDURE_NO_SPACE);
  ASSERT_TRUE(leader_.call(ipc::ReleaseGuests{id_}));
  const auto second = leader_.call(bring({{0, left}}));
  ASSERT_TRUE(second && second->all) << second.error().text();
  expect_content(second->guests[0], static_cast<std::byte>(left));
}

TEST_F(ServerOfGuests, WhatIsRefusedOfAnotherNodesPiecesLeavesTheRoomWhole) {
  open_other();
  EXPECT_EQ(leader_.call(bring({{0, 2}})).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(leader_.call(bring({{0, ~0U}})).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(leader_.call(bring({{1, 0}})).error().code, PERDURE_CORRUPT) << "a rank beyond the last";
  EXPECT_EQ(leader_.call(bring({{0, 1}, {0, 1}})).error().code, PERDURE_CORRUPT) << "twice";
  auto nowhere = bring({{0, 0}});
  nowhere.nodes[0].address.clear();
  EXPECT_EQ(leader_.call(nowhere).error().code, PERDURE_INVALID_ARGUMENT);
  nowhere.nodes.erase(nowhere.nodes.begin());
  EXPECT_EQ(leader_.call(nowhere).error().code, PERDURE_NOT_FOUND) << "this node has nothing of it";
  expect_room_for_all(leader_);
}

TEST_F(ServerOfGuests, AnEngineThatStartsAgainHasItsRoomWhole) {
  open_other();
  ASSERT_TRUE(leader_.call(bring({{0, 0}, {0, 1}})));
  fill(leader_, 0);
  ASSERT_TRUE(take(neighbour_, 1));
  ASSERT_EQ(take(neighbour_, 2).error().code, PERDURE_NO_SPACE);
  engine_->stop();
  engine_.reset();
  auto claimed = claim(config_, "here");
  ASSERT_TRUE(claimed) << claimed.error().text();
  auto started = Engine::start(config_, std::get<Claim>(std::move(*claimed)), false);
  ASSERT_TRUE(started) << started.error().text();
  engine_ = std::move(*started);
  leader_ = client(0);
  EXPECT_TRUE(found(leader_).empty());
  const auto held = leader_.call(ipc::Inventory{"", false});
  EXPECT_TRUE(held && held->held.empty());
  expect_room_for_all(leader_);
}

TEST_F(ServerOfGuests, WithoutANetworkOnlyWhatIsHereIsDescribed) {
  EXPECT_EQ(leader_.call(bring({{0, 0}})).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(leader_.call(ipc::DescribePieces{id_, 1, {0}, {{"there", {std::byte{1}}, {0}, {}}}}).error().code,
            PERDURE_INVALID_ARGUMENT);
  const auto described = leader_.call(ipc::DescribePieces{id_, 1, {0}, {}});
  ASSERT_TRUE(described) << described.error().text();
  EXPECT_TRUE(described->all && described->pieces.empty());
}

}  // namespace
}  // namespace perdure::engine
