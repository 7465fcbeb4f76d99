// Tests versions whose ranks are all on one node: their engine sees for itself that all have staged.
#include "base/hash.hpp"
#include "engine/host/engine_testing.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kPiece = 64 * base::KiB, kStored_ns = 20'000'000'000;

class StagingRanks : public EngineFixture {
 protected:
  void SetUp() override { ASSERT_TRUE(start("chunk_bytes=64KiB;tier.memory.max_bytes=16MiB")); }
  /// Returns the message of a rank of three whose one chunk is in a slot.
  ipc::Stage written(ipc::Channel& channel, std::uint32_t rank) {
    const std::vector<std::byte> content(kPiece, static_cast<std::byte>(rank));
    const auto granted = channel.call(ipc::Grant{id_, kPiece, 0, {}, {}});
    EXPECT_TRUE(granted);
    const auto& slot = granted->slot;
    base::Hasher hasher;
    tier::SlotIo io;
    EXPECT_TRUE(
        io.write({slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access}, 0,
                 content, hasher));
    return {id_, 3, {rank, kPiece, {{0, 1, kPiece}}, {{slot.slot, kPiece, hasher.digest(), slot.tier}}}, 0, {}};
  }
  base::Status stage(std::uint32_t rank, std::vector<ipc::PlannedSegment> when_whole) {
    auto& channel = ranks_.emplace_back(client(rank));
    auto message = written(channel, rank);
    message.when_whole = std::move(when_whole);
    const auto staged = channel.call(message);
    return staged ? base::Status() : base::Status(base::fail(staged.error()));
  }
  bool is_committed() {
    const auto aborted = ranks_[0].call(ipc::Abort{id_});
    EXPECT_TRUE(aborted || aborted.error().code == PERDURE_BUSY);
    return !aborted;
  }
  base::Status wait_stored() {
    const auto stored = ranks_[0].call(ipc::WaitStored{id_, kStored_ns});
    return stored ? base::Status() : base::Status(base::fail(stored.error()));
  }
  const segment::VersionId id_{"app", 1, {1, 1}};
  const std::vector<ipc::PlannedSegment> plan_{{0, 2, {0, 1}}, {1, 2, {2}}};
  std::vector<ipc::Channel> ranks_;
};

TEST_F(StagingRanks, AreCommittedWithTheLastOfThemAndStoredWithoutAnotherWord) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) ASSERT_TRUE(stage(rank, plan_));
  const auto stored = wait_stored();
  ASSERT_TRUE(stored) << stored.error().text();
  const auto store = std::move(*store::make_store(config_.text("store.path")));
  const auto listings = store->list("app");
  ASSERT_TRUE(listings && listings->size() == 1);
  EXPECT_TRUE(listings->front().all_present());
  for (auto& rank : ranks_) EXPECT_TRUE(rank.call(ipc::Commit{id_, plan_})) << "they may agree all the same";
  EXPECT_TRUE(is_committed());
}

TEST_F(StagingRanks, AreNotCommittedBeforeTheLastOne) {
  for (const std::uint32_t rank : {2U, 0U}) ASSERT_TRUE(stage(rank, plan_));
  EXPECT_FALSE(is_committed());
}

// A rank says nothing if there are several nodes, or in a call that can still fail.
TEST_F(StagingRanks, AreNotCommittedWhenTheLastOneDoesNotSayHow) {
  for (const std::uint32_t rank : {2U, 0U}) ASSERT_TRUE(stage(rank, plan_));
  ASSERT_TRUE(stage(1, {}));
  EXPECT_FALSE(is_committed());
}

// The store would show a version as whole that lacks a rank.
TEST_F(StagingRanks, AreRefusedWithSegmentsThatDoNotHaveEachOfThemOnce) {
  for (const std::uint32_t rank : {2U, 0U}) ASSERT_TRUE(stage(rank, plan_));
  using Segments = std::vector<ipc::PlannedSegment>;
  for (const Segments& wrong : {Segments{{0, 1, {0, 1}}}, Segments{{0, 1, {}}}, Segments{{0, 1, {0, 1, 1}}},
                                Segments{{0, 1, {0, 1, 2, 3}}}, Segments{{0, 2, {0, 1}}, {1, 2, {1, 2}}}})
    EXPECT_FALSE(stage(1, wrong));
  EXPECT_FALSE(is_committed());
}

TEST_F(StagingRanks, AreRefusedWithAnotherNumberOfRanksAndAfterTheCommit) {
  ASSERT_TRUE(stage(0, plan_));
  auto& channel = ranks_.emplace_back(client(1));
  auto message = written(channel, 1);
  message.ranks = 2, message.when_whole = {{0, 1, {0, 1}}};
  const auto refused = channel.call(message);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("3 ranks"), std::string::npos) << refused.error().text();
  for (const std::uint32_t rank : {1U, 2U}) ASSERT_TRUE(stage(rank, plan_));
  EXPECT_FALSE(stage(2, plan_));
  ASSERT_TRUE(wait_stored());
}

}  // namespace
}  // namespace perdure::engine
