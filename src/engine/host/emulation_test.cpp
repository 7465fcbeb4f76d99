// Tests engines with emulated devices, by option emulate.description.
#include "engine/host/emulation.hpp"

#include <fstream>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "engine/host/engine_testing.hpp"
#include "os/system.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kEmulatedChunk = 64 * base::KiB;

class EmulatedEngine : public EngineFixture {
 protected:
  base::Status start(const std::string& description, const std::string& more = {}) {
    std::ofstream(directory_ / "node.toml") << description;
    return EngineFixture::start("tier.order=file;chunk_bytes=64KiB;emulate.description=" + directory_ / "node.toml" +
                                ";" + more);
  }
  /// Commits one chunk of zeros, as rank 0 of 1.
  static base::Status checkpoint(ipc::Channel& channel, const segment::VersionId& id) {
    PERDURE_TRY(const auto reply, channel.call(ipc::Grant{id, kEmulatedChunk, 0, {}, {}}));
    const auto& slot = reply.slot;
    const auto hash = base::hash128(std::vector<std::byte>(kEmulatedChunk));  // preallocated slots are zeros
    PERDURE_CHECK(channel.call(ipc::Stage{
        id, 1, {0, kEmulatedChunk, {{0, 1, kEmulatedChunk}}, {{slot.slot, kEmulatedChunk, hash, slot.tier}}}}));
    PERDURE_CHECK(channel.call(ipc::Commit{id, {{0, 1, {0}}}}));
    return {};
  }
  static std::string node(const std::string& tier_rate, const std::string& store_rate) {
    return "tiers = [\"file\"]\n[tier.file]\nstreams = [1]\nbytes_per_s = [\"" + tier_rate +
           "\"]\n[store]\nstreams = [1]\nbytes_per_s = [\"" + store_rate + "\"]\n";
  }
  const segment::VersionId id_{"app", 1, {1, 1}};
};

TEST_F(EmulatedEngine, StoresThroughAFastEmulatedStore) {
  ASSERT_TRUE(start(node("1TB", "1TB")));
  auto channel = client();
  ASSERT_TRUE(checkpoint(channel, id_));
  EXPECT_TRUE(channel.call(ipc::WaitStored{id_, 0}));
}

TEST_F(EmulatedEngine, ASlowStoreIsWaitedForAndDoesNotKeepTheEngineFromStopping) {
  ASSERT_TRUE(start(node("1TB", "1")));  // the flush would take a day
  auto channel = client();
  ASSERT_TRUE(checkpoint(channel, id_));
  EXPECT_EQ(channel.call(ipc::WaitStored{id_, 1'000'000}).error().code, PERDURE_TIMEOUT);
  engine_->stop();
}

/// Grants a slot of the only tier to `channel`, and returns the message that reports its write.
ipc::AwaitWritten granted(ipc::Channel& channel, const segment::VersionId& id, std::uint64_t bytes = kEmulatedChunk) {
  const auto reply = channel.call(ipc::Grant{id, bytes, 0, {}, {}});
  EXPECT_TRUE(reply);
  const auto slot = reply ? reply->slot : ipc::SlotAddress{};
  return {{id, 0, 0, slot.tier, slot.slot, bytes, base::hash128(std::vector<std::byte>(bytes))}};
}

TEST_F(EmulatedEngine, AWriteIsAnsweredWhenTheDeviceSaysThatItIsOver) {
  ASSERT_TRUE(start(node("1TB", "1TB")));
  auto channel = client();
  for (int i = 0; i < 5; ++i) {
    const auto written = granted(channel, id_);
    EXPECT_TRUE(channel.call(written));
    EXPECT_TRUE(channel.call(written)) << "and again: nothing changed";
  }
}

// The end of a write must be noticed whenever it falls between two looks at the device. An earlier server slept for
// ever when it fell between its look at waiting requests and its look at the next event.
TEST_F(EmulatedEngine, EveryWriteIsAnsweredWheneverItEnds) {
  ASSERT_TRUE(start(node("40MB", "1TB")));  // a chunk takes up to 1.6 ms, about as long as a request
  auto channel = client();
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const segment::VersionId version{"app", i, {i + 1, 1}};
    const auto answer = channel.call(granted(channel, version, 1 + i * 31 % kEmulatedChunk), 10'000'000'000);
    ASSERT_TRUE(answer) << "write " << i << ": " << answer.error().text();
    ASSERT_TRUE(channel.call(ipc::Abort{version}));
  }
}

// Covers everything from the option to the thread that is held back: steps are slow whenever a flush runs. It repeats
// them until the engine believes it.
TEST_F(EmulatedEngine, HoldsFlushesBackForTheApplicationButNotFromWhomWaitsForThem) {
  ASSERT_TRUE(start(node("1TB", "2MB"), "flush.max_slowdown=0.01;flush.threads=1"));  // a flush takes 33 ms
  auto channel = client(), watcher = client();
  const auto held_back = [&] {
    const auto engine = base::decode_cbor(watcher.call(ipc::Top{}).value().cbor, "top").value();
    return engine["flush"]["threads_held_back"].get<unsigned>() == 1;
  };
  segment::VersionId version{"app", 0, {0, 1}};
  bool held = false;  // once is enough, since the engine tries again after a while
  for (std::uint64_t i = 1; i <= 400 && !held; ++i) {
    ASSERT_TRUE(channel.call(ipc::WaitStored{version, 0}));
    os::sleep_ns(10'000'000);                         // wait: the application computes for that long
    ASSERT_TRUE(channel.tell(ipc::Step{5'000'000}));  // no flush ran
    version = {"app", i, {i, 1}};
    ASSERT_TRUE(checkpoint(channel, version));
    os::sleep_ns(20'000'000);                          // wait: the same, and the device writes meanwhile
    ASSERT_TRUE(channel.tell(ipc::Step{15'000'000}));  // a flush ran
    held = held_back();
  }
  EXPECT_TRUE(held);
  EXPECT_TRUE(channel.call(ipc::WaitStored{version, 0}, 20'000'000'000));
}

TEST_F(EmulatedEngine, WhoDiesWhileADeviceWritesLeavesItsSlotToOthers) {
  ASSERT_TRUE(start(node("1", "1TB"), "tier.file.max_bytes=64KiB"));
  auto first = client(), second = client();
  const auto written = granted(first, id_);
  EXPECT_EQ(first.call(written, 1'000'000).error().code, PERDURE_TIMEOUT);  // closes the connection
  const auto sequence = second.post(ipc::Grant{{"app", 2, {2, 2}}, kEmulatedChunk, 0, {}, {}});
  ASSERT_TRUE(sequence);
  EXPECT_TRUE(second.await(*sequence)) << "there is room for one chunk only";
}

TEST_F(EmulatedEngine, AnAbortAnswersTheWriteThatIsWaitedFor) {
  ASSERT_TRUE(start(node("1", "1TB")));
  auto channel = client();
  const auto waited = channel.post(granted(channel, id_));
  ASSERT_TRUE(waited);
  EXPECT_TRUE(channel.call(ipc::Abort{id_}));
  EXPECT_EQ(channel.await(*waited).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(EmulatedEngine, ASlotThatWasNotGrantedCannotBeWritten) {
  ASSERT_TRUE(start(node("1TB", "1TB")));
  auto mine = client(), stranger = client();
  ipc::AwaitWritten written = granted(mine, id_);
  EXPECT_EQ(stranger.call(written).error().code, PERDURE_INVALID_ARGUMENT);
  written.written.slot = 17;
  EXPECT_EQ(mine.call(written).error().code, PERDURE_INVALID_ARGUMENT);
  written.written.tier = 5;
  EXPECT_EQ(mine.call(written).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(EmulatedEngine, ADescriptionThatIsNoneIsRefusedByNameAndKey) {
  const auto refused = start("tiers = []\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(refused.error().text().find("node.toml: tiers"), std::string::npos) << refused.error().text();
}

TEST_F(EmulatedEngine, AMissingDescriptionIsAnError) {
  const auto refused = start("", "emulate.description=" + directory_.path() + "/nowhere.toml");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NOT_FOUND);
}

}  // namespace
}  // namespace perdure::engine
