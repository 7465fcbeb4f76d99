// Tests a tier that slows to a crawl, and one that recovers: what `adaptive` decides once writes were observed.
#include <array>

#include "device/emulator.hpp"
#include "engine/ledger/node_state_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "tier/emulated_tier.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kWriters = 4;
constexpr double kFast = 1e9, kSlow = 1e8, kCrawling = 4e6;  // bytes/s of all writers together

class NodeStateCrawl : public NodeStateFixture {
 protected:
  NodeStateCrawl() {
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    NodeStateOptions options;
    for (const double rate : {kFast, kSlow}) {
      const auto number = static_cast<std::uint32_t>(tiers.size());
      device::Device device;
      device.throughput = device::Curve::constant(rate);
      devices_[number] = std::make_shared<device::Emulator>(device, 1, 1);
      const std::string path = directory / ("tier" + std::to_string(number));
      auto real = tier::make_tier("file", {number, path, kChunk, 16 * kChunk}).value();
      tiers.push_back(tier::emulate(std::move(real), devices_[number], 0));
      std::vector<placement::Sample> samples;
      for (unsigned writers = 1; writers <= 16; ++writers) samples.push_back({writers, rate});
      options.models.push_back({placement::DeviceModel::fit(samples, 16).value(), {}});
    }
    options.policy = placement::find_policy("adaptive").value();
    options.chunk_bytes = kChunk;
    make(std::move(tiers), std::move(options));
    EXPECT_TRUE(core->recover());
  }
  /// Makes and stores a checkpoint with one chunk from each writer, all at once. Returns how many chunks went to the
  /// first tier.
  std::size_t checkpoint_of_all() {
    const auto version = id(++version_);
    std::array<tier::SlotAddress, kWriters> slots;
    for (std::uint32_t rank = 0; rank < kWriters; ++rank)
      slots[rank] = core->grants.grant(rank + 1, {version, kChunk, 0, {}, {}}, {kWriters - rank, rank, false}).address;
    std::size_t first = 0;
    for (std::uint32_t rank = 0; rank < kWriters; ++rank) {
      first += slots[rank].tier == 0 ? 1 : 0;
      await_written({version, rank, 0, slots[rank].tier, slots[rank].slot, kChunk, content_hash()});
      ipc::Stage stage = staged(version, {slots[rank]}, rank);
      stage.ranks = kWriters;
      EXPECT_TRUE(core->held.stage(rank + 1, stage));
    }
    EXPECT_TRUE(core->held.commit({version, {{0, 1, {0, 1, 2, 3}}}}));
    store(version_);
    return first;
  }
  /// Repeats checkpoints until one is placed as wanted; false after `most` attempts.
  bool checkpoint_until(std::size_t on_first_tier, int most) {
    for (int i = 0; i < most; ++i)
      if (checkpoint_of_all() == on_first_tier) return true;
    return false;
  }
  std::array<std::shared_ptr<device::Emulator>, 2> devices_;

 private:
  void await_written(const ipc::Written& written) {
    std::optional<base::Status> status;
    ASSERT_TRUE(test_support::eventually("the device has written", [&] {
      status = core->writes.written(written.rank + 1, written);
      return status.has_value();
    }));
    EXPECT_TRUE(*status) << status->error().text();
  }
  std::uint64_t version_ = 0;
};

TEST_F(NodeStateCrawl, ATierThatSlowsToACrawlIsTurnedAwayFrom) {
  ASSERT_EQ(checkpoint_of_all(), kWriters) << "it is the fastest";
  devices_[0]->limit(kCrawling);
  EXPECT_TRUE(checkpoint_until(0, 40));
}

TEST_F(NodeStateCrawl, ATierThatRecoversIsUsedAgain) {
  devices_[0]->limit(kCrawling);
  ASSERT_TRUE(checkpoint_until(0, 40));
  devices_[0]->limit(device::Node::kUnlimited);
  EXPECT_TRUE(checkpoint_until(kWriters, 400));
}

}  // namespace
}  // namespace perdure::engine
