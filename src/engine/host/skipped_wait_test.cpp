// Tests checkpoints that come faster than the store takes them.
#include <gmock/gmock.h>

#include "engine/host/engine_testing.hpp"
#include "os/system.hpp"
#include "os/thread.hpp"
#include "store/store.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/stopped_store.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kFastBytes = 64 * base::KiB;

class FastCheckpoints : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started = start("tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=4MiB;flush.during_capture=never");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
  void TearDown() override { store_.go_on(); }
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  void checkpoint(std::uint64_t version) {
    segment::Piece piece{0, kFastBytes, {{0, 1, kFastBytes}}, {}};
    piece.chunks.push_back({0, kFastBytes, {}, 0});
    ASSERT_TRUE(rank_.tell(ipc::Begin{id(version), 1, piece, {{0, 1, {0}}}}));
    const auto granted = rank_.call(ipc::Grant{id(version), kFastBytes, 0, {}, {}});
    ASSERT_TRUE(granted) << granted.error().text();
    const auto hash = base::hash128(std::vector<std::byte>(kFastBytes));  // preallocated slots are zeros
    piece.chunks[0] = {granted->slot.slot, kFastBytes, hash, granted->slot.tier};
    const ipc::Written written{id(version), 0, 0, granted->slot.tier, granted->slot.slot, kFastBytes, hash};
    ASSERT_TRUE(rank_.call(ipc::AwaitWritten{written}));
    ASSERT_TRUE(rank_.call(ipc::Stage{id(version), 1, piece}));
    ASSERT_TRUE(rank_.call(ipc::Commit{id(version), {{0, 1, {0}}}}));
  }
  std::vector<std::uint64_t> stored() {
    std::vector<std::uint64_t> versions;
    const auto listings = store::make_store(directory_ / "store").value()->list("app").value();
    for (const auto& listing : listings) versions.push_back(listing.id.version);
    return versions;
  }

  test_support::StoppedStore store_{directory_ / "store"};
  test_support::InstalledHooks installed_{store_};
  ipc::Channel rank_;
};

TEST_F(FastCheckpoints, AreSkippedAndAWaitForOneOfThemEndsWithSomethingNewer) {
  checkpoint(1);
  ASSERT_TRUE(test_support::eventually("the first flush has begun", [this] { return store_.waits(); }));
  for (std::uint64_t version = 2; version <= 6; ++version) checkpoint(version);
  const auto early = rank_.call(ipc::WaitStored{id(3), 1});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, PERDURE_TIMEOUT);
  EXPECT_THAT(early.error().text(), HasSubstr("it was skipped"));
  store_.go_on();
  const auto waited = rank_.call(ipc::WaitStored{id(3), 0});
  ASSERT_TRUE(waited) << waited.error().text();
  EXPECT_FALSE(waited->held);
  ASSERT_TRUE(waited->newer);
  EXPECT_GE(*waited->newer, 5u);
  const auto report = rank_.call(ipc::NextReport{}).value().text;
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, HasSubstr("app version 3 was skipped, as retention would have removed it"));
  ASSERT_TRUE(rank_.call(ipc::WaitStored{id(3), 0}));
  EXPECT_FALSE(rank_.call(ipc::NextReport{}).value().text) << "it was told";
  ASSERT_TRUE(rank_.call(ipc::WaitStored{id(6), 0}));
  EXPECT_THAT(stored(), ElementsAre(1, 5, 6)) << "no thread retires: nobody said that this is the first node";
  EXPECT_FALSE(rank_.call(ipc::WaitStored{{"app", 77, {}}, 0}).value().newer) << "it never was";
}

TEST_F(FastCheckpoints, ThatARankWaitsForAreBroughtToTheStore) {
  checkpoint(1);
  ASSERT_TRUE(test_support::eventually("the first flush has begun", [this] { return store_.waits(); }));
  checkpoint(2);
  ipc::Channel other = client(1);
  std::optional<base::Result<ipc::StoreOutcome>> outcome;
  auto waiter = os::Thread::start(
      "waiter",
      [&] {
        outcome = other.call(ipc::WaitStored{id(2), 0});
      },
      [](const base::Error&) { return false; });
  ASSERT_TRUE(waiter);
  const struct GoOn {  // the waiter is joined whatever fails
    test_support::StoppedStore& store;
    ~GoOn() { store.go_on(); }
  } go_on{store_};
  // Later requests are not answered before the wait was received.
  ASSERT_TRUE(test_support::eventually("the wait has come", [this] {
    const auto seen = rank_.call(ipc::Top{});
    return seen && std::string_view(reinterpret_cast<const char*>(seen->cbor.data()), seen->cbor.size())
                           .find("app version 2 is not stored") != std::string_view::npos;
  }));
  for (std::uint64_t version = 3; version <= 6; ++version) checkpoint(version);
  store_.go_on();
  waiter->join();
  ASSERT_TRUE(outcome && *outcome) << outcome->error().text();
  EXPECT_TRUE((*outcome)->held);
  EXPECT_FALSE((*outcome)->newer);
}

/// One node of two, with room for one version.
class FastCheckpointsOfTwoNodes : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started =
        start("tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=64KiB;flush.during_capture=never");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
  /// Attempts are minutes apart, so that a version is held back for a minute.
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version * 600'000'000'000, 1}}; }
  base::Status checkpoint(std::uint64_t version, bool wanted) {
    segment::Piece piece{0, kFastBytes, {{0, 1, kFastBytes}}, {}};
    piece.chunks.push_back({0, kFastBytes, {}, 0});
    PERDURE_CHECK(rank_.tell(ipc::Begin{id(version), 2, piece, {{0, 2, {0}}}}));
    PERDURE_TRY(const auto granted, rank_.call(ipc::Grant{id(version), kFastBytes, 30'000'000'000, {}, {}}));
    const auto hash = base::hash128(std::vector<std::byte>(kFastBytes));
    piece.chunks[0] = {granted.slot.slot, kFastBytes, hash, granted.slot.tier};
    const ipc::Written written{id(version), 0, 0, granted.slot.tier, granted.slot.slot, kFastBytes, hash};
    PERDURE_CHECK(rank_.call(ipc::AwaitWritten{written}));
    PERDURE_CHECK(rank_.call(ipc::Stage{id(version), 2, piece}));
    PERDURE_CHECK(rank_.call(ipc::Commit{id(version), {{0, 2, {0}}}, false, wanted}));
    return {};
  }

  ipc::Channel rank_;
};

TEST_F(FastCheckpointsOfTwoNodes, AreBroughtToTheStoreWhenTheNextOneNeedsTheirRoom) {
  ASSERT_TRUE(checkpoint(1, true));
  ASSERT_TRUE(rank_.call(ipc::WaitStored{id(1), 0}));
  ASSERT_TRUE(checkpoint(2, false));
  const auto next = checkpoint(3, false);
  EXPECT_TRUE(next) << next.error().text();
  EXPECT_TRUE(rank_.call(ipc::WaitStored{id(3), 0})) << "whoever waits is not held back";
}

/// Has room for many versions.
class RoomyCheckpointsOfTwoNodes : public FastCheckpointsOfTwoNodes {
 protected:
  void SetUp() override {
    const auto started = start("tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=4MiB;flush.during_capture=never");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
};

TEST_F(RoomyCheckpointsOfTwoNodes, AreBroughtToTheStoreForWhoeverWaitsForOneThatWasSkipped) {
  for (std::uint64_t version = 1; version <= 6; ++version) ASSERT_TRUE(checkpoint(version, version == 1));
  const auto waited = rank_.call(ipc::WaitStored{id(3), 20'000'000'000});
  ASSERT_TRUE(waited) << waited.error().text();
  EXPECT_FALSE(waited->held);
  ASSERT_TRUE(waited->newer);
  EXPECT_GE(*waited->newer, 5U);
}

/// Has room for three versions, and a store that takes nothing until the test says so.
class CrampedCheckpointsOfTwoNodes : public FastCheckpointsOfTwoNodes {
 protected:
  void SetUp() override {
    const auto started = start(
        "tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=192KiB;retention.keep_last=1;"
        "flush.during_capture=never");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
  void TearDown() override { store_.go_on(); }

  test_support::StoppedStore store_{directory_ / "store"};
  test_support::InstalledHooks installed_{store_};
};

// A reader kept version 2 from being skipped, and has gone since.
TEST_F(CrampedCheckpointsOfTwoNodes, MakeRoomOfWhatNobodyNeedsAnyMore) {
  ASSERT_TRUE(checkpoint(1, true));
  ASSERT_TRUE(test_support::eventually("the first flush has begun", [this] { return store_.waits(); }));
  ASSERT_TRUE(checkpoint(2, false));
  ipc::Channel reader = client(1);
  ASSERT_TRUE(reader.call(ipc::Locate{id(2), 0}));
  ASSERT_TRUE(checkpoint(3, false));
  ASSERT_TRUE(reader.call(ipc::Unpin{}));
  const auto next = checkpoint(4, false);
  EXPECT_TRUE(next) << next.error().text();
}

TEST_F(FastCheckpointsOfTwoNodes, AreBroughtToTheStoreAtTheEnd) {
  ASSERT_TRUE(checkpoint(1, true));
  ASSERT_TRUE(checkpoint(2, false));
  const auto drained = rank_.call(ipc::Drain{30'000'000'000});
  ASSERT_TRUE(drained) << drained.error().text();
  EXPECT_TRUE(drained->done);
  ASSERT_TRUE(checkpoint(3, false));
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  os::shift_monotonic_clock(-kHourNs);  // so that its time does not come
  rank_ = {};
  const auto others = client(1);
  EXPECT_TRUE(test_support::eventually("what a rank left is stored", [&] {
    const auto listings = store::make_store(directory_ / "store").value()->list("app").value();
    return std::any_of(listings.begin(), listings.end(), [](const auto& one) { return one.id.version == 3; });
  }));
  os::shift_monotonic_clock(kHourNs);
}

}  // namespace
}  // namespace perdure::engine
