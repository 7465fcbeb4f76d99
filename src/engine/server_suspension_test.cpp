// A job that was suspended (its monotonic clock jumps) and goes on: what it slept through was no waiting.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "ipc/address_codec.hpp"
#include "ipc/channel.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

constexpr std::int64_t kSuspendedNs = 3 * 3'600'000'000'000;

class SuspendedEngine : public testing::Test {
 protected:
  void SetUp() override {
    const std::string at = directory_.path();
    ASSERT_TRUE(config_.set_all("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                    "/file;chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB",
                                config::Origin::program));
    auto claimed = claim(config_, "here");
    ASSERT_TRUE(claimed) << claimed.error().text();
    engine_ = Engine::start(config_, std::get<Claim>(std::move(*claimed)), false).value();
  }
  void TearDown() override { os::shift_monotonic_clock(-shifted_); }
  void suspend() {
    shifted_ += kSuspendedNs;
    os::shift_monotonic_clock(kSuspendedNs);
  }
  ipc::Channel client() const {
    auto channel = ipc::Channel::connect(engine_->socket_path()).value();
    ipc::Hello hello;
    hello.fingerprint = config_.fingerprint();
    EXPECT_TRUE(channel.call(hello));
    return channel;
  }
  test_support::TemporaryDirectory directory_;
  config::Config config_;
  std::unique_ptr<Engine> engine_;

 private:
  std::int64_t shifted_ = 0;
};

TEST_F(SuspendedEngine, GoesOnWaitingForASlotThatComes) {
  const segment::VersionId id{"app", 1, {1, 1}}, later{"app", 2, {2, 2}};
  ipc::Grant request{id, 64 * base::KiB, 600'000'000'000, {}, {}};
  auto first = client(), second = client(), other = client();
  const auto slot = ipc::address_from_json(first.call(request).value()["slot"]).value();  // the only one
  request.id = later;
  const auto waiting = second.post(request).value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(other.call(ipc::Progress{})) << "now it is known that it waits, or that it woke up";
    suspend();
  }
  ASSERT_TRUE(other.call(ipc::Progress{}));
  ASSERT_TRUE(other.call(ipc::Progress{})) << "it looked at who waits between the two";
  ASSERT_TRUE(first.tell(ipc::GiveBack{id, slot.tier, slot.slot}));
  const auto granted = second.await(waiting);
  EXPECT_TRUE(granted) << granted.error().text();
}

}  // namespace
}  // namespace perdure::engine
