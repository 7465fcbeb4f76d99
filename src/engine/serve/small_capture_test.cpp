// Tests that a capture in one message has the same result as one in several.
#include <algorithm>

#include "base/hash.hpp"
#include "engine/host/engine_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kWait_ns = 20'000'000'000;

class SmallCaptures : public EngineFixture {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  static ipc::SmallCapture capture(std::uint64_t version, std::uint32_t rank, std::uint32_t ranks,
                                   std::uint64_t length = 5000) {
    ipc::SmallCapture message;
    message.bytes.assign(length, static_cast<std::byte>(40 + rank));
    std::vector<std::uint32_t> all;
    for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(r);
    message.begin = {id(version),
                     ranks,
                     {rank, 64 * base::KiB, {{0, 1, length}}, {{0, length, base::hash128(message.bytes), 0}}},
                     {{0, 1, all}}};
    return message;
  }
  static void expect_content(const tier::SlotAddress& slot, const std::vector<std::byte>& content) {
    std::vector<std::byte> found(content.size());
    base::Hasher hasher;
    tier::SlotIo io;
    ASSERT_TRUE(io.read(slot, 0, found, hasher));
    EXPECT_EQ(found, content);
  }
  static tier::SlotAddress address_of(const ipc::SlotAddress& slot) {
    return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
  }
};

TEST_F(SmallCaptures, AreStagedWithTheirBytesInASlot) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB"));
  auto rank = client();
  for (std::uint64_t version = 1; version < 4; ++version) {
    const auto message = capture(version, 0, 1, 1000 * version);
    const auto placed = rank.call(message);
    ASSERT_TRUE(placed) << placed.error().text();
    EXPECT_FALSE(placed->slot);
    EXPECT_FALSE(rank.call(message)) << "it was staged";
    ASSERT_TRUE(rank.call(ipc::Commit{id(version), {{0, 1, {0}}}}));
    const auto located = rank.call(ipc::Locate{id(version), 0});
    ASSERT_TRUE(located) << located.error().text();
    EXPECT_EQ(located->piece.chunks[0].hash, message.begin.piece.chunks[0].hash);
    ASSERT_TRUE(located->slots.size() == 1);
    expect_content(address_of(located->slots[0]), message.bytes);
  }
}

// Its ranks wait for the engine's answer only, and need not wait for an older version to be evicted.
TEST_F(SmallCaptures, FindRoomThatWasMadeWhenTheOneBeforeWasStored) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB;tier.file.max_bytes=0;tier.order=memory"));
  auto rank = client();
  const auto checkpoint = [&](std::uint64_t version, std::uint64_t bytes) {
    EXPECT_TRUE(rank.call(capture(version, 0, 1, bytes)));
    EXPECT_TRUE(rank.call(ipc::Commit{id(version), {{0, 1, {0}}}}));
    EXPECT_TRUE(rank.call(ipc::WaitStored{id(version), kWait_ns}));
  };
  const auto is_here = [&](std::uint64_t version) {
    const auto holdings = rank.call(ipc::Inventory{"app"});
    return holdings && std::any_of(holdings->held.begin(), holdings->held.end(),
                                   [&](const auto& held) { return held.id == id(version); });
  };
  ASSERT_TRUE(rank.call(ipc::Reserve{{5000}})) << "of two versions";
  checkpoint(1, 5000);
  EXPECT_TRUE(is_here(1)) << "there is no newer one";
  checkpoint(2, 5000);
  EXPECT_TRUE(test_support::eventually("version 1 makes room", [&] { return !is_here(1); }));
  EXPECT_TRUE(is_here(2));
  checkpoint(3, ipc::kMostInMessage + 1);
  EXPECT_TRUE(is_here(2)) << "whose bytes take their time waits for that of the room, too";
  EXPECT_TRUE(is_here(3));
}

TEST_F(SmallCaptures, LeaveASlotThatIsNoMemoryToTheirRank) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=16MiB"));
  auto rank = client();
  const auto message = capture(1, 0, 1);
  const auto placed = rank.call(message);
  ASSERT_TRUE(placed && placed->slot);
  EXPECT_FALSE(rank.call(ipc::Locate{id(1), 0})) << "nothing of it is staged";
  base::Hasher hasher;
  tier::SlotIo io;
  ASSERT_TRUE(io.write(address_of(*placed->slot), 0, message.bytes, hasher));
  segment::Piece piece = message.begin.piece;
  piece.chunks[0] = {placed->slot->slot, message.bytes.size(), hasher.digest(), placed->slot->tier};
  ASSERT_TRUE(rank.call(ipc::Stage{id(1), 1, piece}));
  EXPECT_TRUE(rank.call(ipc::Commit{id(1), {{0, 1, {0}}}}));
}

TEST_F(SmallCaptures, AreRefusedWhenTheirBytesAreNotThoseOfTheirChunk) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB"));
  auto rank = client();
  auto longer = capture(1, 0, 1), empty = capture(2, 0, 1), other = capture(3, 0, 1);
  longer.bytes.emplace_back();
  empty.begin.piece.regions.clear();
  empty.begin.piece.chunks.clear();
  for (const auto& wrong : {longer, empty}) {
    const auto refused = rank.call(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  }
  other.bytes[77] ^= std::byte{1};
  const auto placed = rank.call(other);
  EXPECT_TRUE(placed && placed->slot) << "its rank is to write what it means";
  for (std::uint64_t version = 1; version < 4; ++version) EXPECT_FALSE(rank.call(ipc::Locate{id(version), 0}));
}

// There is room for one chunk. A waiting rank gets the slot when the other's chunk is in the temporary segment, for
// which all pieces must be known.
TEST_F(SmallCaptures, AreKnownOfWhileTheyWaitForASlotAndGetOneInTheirTurn) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB"));
  std::vector<ipc::Channel> ranks;
  std::vector<ipc::Posted<ipc::Placed>> posted;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(client(rank));
    posted.push_back(ranks[rank].post(capture(1, rank, 3, 64 * base::KiB)).value());
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const auto placed = ranks[rank].await(posted[rank], kWait_ns);
    ASSERT_TRUE(placed) << rank << ": " << placed.error().text();
    ASSERT_TRUE(placed->slot);
    const auto message = capture(1, rank, 3, 64 * base::KiB);
    base::Hasher hasher;
    tier::SlotIo io;
    ASSERT_TRUE(io.write(address_of(*placed->slot), 0, message.bytes, hasher));
    ASSERT_TRUE(ranks[rank].tell(
        ipc::Written{id(1), rank, 0, placed->slot->tier, placed->slot->slot, message.bytes.size(), hasher.digest()}));
  }
}

TEST_F(SmallCaptures, ThatWaitTooLongAreRefusedAndTakeNoSlot) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB;flush.during_capture=never"));
  auto rank = client(0), other = client(1);
  const auto granted = other.call(ipc::Grant{id(1), 64 * base::KiB, 0, {}, {}});
  ASSERT_TRUE(granted);
  auto message = capture(2, 0, 1, 64 * base::KiB);
  message.timeout_ns = 10'000'000;
  const auto refused = rank.call(message);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_TIMEOUT) << refused.error().text();
  ASSERT_TRUE(rank.call(ipc::Abort{id(2)}));
  ASSERT_TRUE(other.tell(ipc::GiveBack{id(1), granted->slot.tier, granted->slot.slot}));
  ASSERT_TRUE(other.call(ipc::Progress{}));
  EXPECT_TRUE(rank.call(capture(3, 0, 1, 64 * base::KiB)));
}

// A rank that waits for room may depend on the rank that this one waits for next.
TEST_F(SmallCaptures, ThatAskAtOnceNeitherWaitNorOvertake) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB;flush.during_capture=never"));
  auto rank = client(0), other = client(1), third = client(2);
  const auto granted = other.call(ipc::Grant{id(1), 64 * base::KiB, 0, {}, {}});
  ASSERT_TRUE(granted);
  auto message = capture(2, 0, 1, 64 * base::KiB);
  message.at_once = true;
  const auto full = rank.call(message, kWait_ns);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, PERDURE_TIMEOUT) << full.error().text();
  ASSERT_TRUE(rank.call(ipc::Abort{id(2)}));

  const auto waits = third.post(capture(3, 0, 1, 64 * base::KiB)).value();
  ASSERT_TRUE(third.call(ipc::Progress{}));  // the request has arrived
  const auto behind = rank.call(message, kWait_ns);
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, PERDURE_TIMEOUT);
  ASSERT_TRUE(rank.call(ipc::Abort{id(2)}));
  ASSERT_TRUE(other.tell(ipc::GiveBack{id(1), granted->slot.tier, granted->slot.slot}));
  const auto placed = third.await(waits, kWait_ns);
  EXPECT_TRUE(placed && placed->slot) << "whoever waited gets it";
}

// A rank waits that cannot use the free slot. A rank that asks at once does not get that slot either.
TEST_F(SmallCaptures, ThatAskAtOnceLeaveFreeSlotsWhileSomebodyWaits) {
  ASSERT_TRUE(
      start("chunk_bytes=64KiB;tier.order=memory,file;tier.memory.max_bytes=16MiB;tier.file.max_bytes=64KiB;"
            "flush.during_capture=never"));
  auto rank = client(0), other = client(1), third = client(2);
  const auto of_memory = rank.call(ipc::Grant{id(1), 64 * base::KiB, 0, {}, {}});
  ASSERT_TRUE(of_memory);
  const std::vector<std::uint32_t> avoid{of_memory->slot.tier};
  ASSERT_TRUE(rank.tell(ipc::GiveBack{id(1), of_memory->slot.tier, of_memory->slot.slot}));
  const auto granted = other.call(ipc::Grant{id(1), 64 * base::KiB, 0, avoid, "it could not be written"});
  ASSERT_TRUE(granted);
  EXPECT_NE(granted->slot.tier, avoid[0]);
  const auto waits = third.post(ipc::Grant{id(3), 64 * base::KiB, 0, avoid, "it could not be written"}).value();
  ASSERT_TRUE(third.call(ipc::Progress{}));  // the request has arrived

  auto message = capture(2, 0, 1);
  message.at_once = true;
  const auto behind = rank.call(message, kWait_ns);
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, PERDURE_TIMEOUT) << behind.error().text();
  ASSERT_TRUE(rank.call(ipc::Abort{id(2)}));
  ASSERT_TRUE(other.tell(ipc::GiveBack{id(1), granted->slot.tier, granted->slot.slot}));
  const auto slot = third.await(waits, kWait_ns);
  ASSERT_TRUE(slot) << slot.error().text();
  EXPECT_EQ(slot->slot.tier, granted->slot.tier);
}

TEST_F(SmallCaptures, ThatAskAtOnceAreOfTheNewestAttempt) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB"));
  auto rank = client();
  auto older = capture(2, 0, 1), newer = capture(4, 0, 1);
  older.at_once = newer.at_once = true;
  ASSERT_TRUE(rank.call(capture(3, 0, 1)));
  const auto refused = rank.call(older);
  ASSERT_FALSE(refused) << "its attempt began before one that is held";
  EXPECT_EQ(refused.error().code, PERDURE_TIMEOUT) << refused.error().text();
  ASSERT_TRUE(rank.call(ipc::Abort{older.begin.id}));
  EXPECT_TRUE(rank.call(newer));
  older.at_once = false;
  EXPECT_TRUE(rank.call(older)) << "as usual it is the rank's to know";
}

TEST_F(SmallCaptures, ThatAskAtOnceAreOfTheNewestAttemptAlsoWhereThatIsForgotten) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB"));
  auto rank = client();
  auto older = capture(2, 0, 1), newer = capture(4, 0, 1);
  older.at_once = newer.at_once = true;
  ASSERT_TRUE(rank.call(capture(3, 0, 1)));
  ASSERT_TRUE(rank.call(ipc::Abort{id(3)}));
  const auto refused = rank.call(older);
  ASSERT_FALSE(refused) << "its attempt began before one that was there";
  EXPECT_EQ(refused.error().code, PERDURE_TIMEOUT) << refused.error().text();
  ASSERT_TRUE(rank.call(ipc::Abort{older.begin.id}));
  EXPECT_TRUE(rank.call(newer));
}

}  // namespace
}  // namespace perdure::engine
