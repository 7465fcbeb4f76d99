// Tests that an idle engine uses no processor: none of its threads wakes up. The kernel knows until when each of them
// sleeps; no time is asserted on.
#include <atomic>
#include <fstream>
#include <thread>

#include "engine/host/engine_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/quiescent.hpp"
#include "support/wake_ups.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kIdleChunk = 64 * base::KiB;
// The server looks once more half a minute after a client connected, whether it has sent Hello by then or not.
constexpr std::chrono::seconds kLong{10};

class IdleEngine : public EngineFixture {
 protected:
  void start(const std::string& more, bool idle_exit = false) {
    ASSERT_TRUE(
        EngineFixture::start("tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=256KiB;" + more, idle_exit));
    rank_ = ipc::Channel::connect(engine_->socket_path()).value();
    ipc::Hello with_retention = hello();
    with_retention.first_node = true;
    ASSERT_TRUE(rank_.call(with_retention));
  }
  /// Captures six chunks of zeros in four slots, so that the version is flushed during the capture, and stored. If
  /// `nodes` is more than one, the other nodes never store their part.
  void checkpoint(std::uint64_t version, std::uint32_t nodes = 1) {
    const segment::VersionId id{"app", version, {version, 1}};
    const auto hash = base::hash128(std::vector<std::byte>(kIdleChunk));  // preallocated slots are zeros
    segment::Piece piece{0, kIdleChunk, {{0, 1, 6 * kIdleChunk}}, {}};
    for (int i = 0; i < 6; ++i) piece.chunks.push_back({0, kIdleChunk, {}, 0});
    ASSERT_TRUE(rank_.tell(ipc::Step{1'000'000}));
    ASSERT_TRUE(rank_.call(ipc::Reserve{std::vector<std::uint64_t>(6, kIdleChunk)}));
    ASSERT_TRUE(rank_.tell(ipc::Begin{id, nodes, piece, {{0, nodes, {0}}}}));
    for (std::uint32_t c = 0; c < 6; ++c) {
      const auto reply = rank_.call(ipc::Grant{id, kIdleChunk, 0, {}, {}});
      ASSERT_TRUE(reply) << reply.error().text();
      const auto& slot = reply->slot;
      piece.chunks[c] = {slot.slot, kIdleChunk, hash, slot.tier};
      ASSERT_TRUE(rank_.call(ipc::AwaitWritten{{id, 0, c, slot.tier, slot.slot, kIdleChunk, hash}}));
    }
    ASSERT_TRUE(rank_.call(ipc::Stage{id, nodes, piece}));
    ASSERT_TRUE(rank_.call(ipc::Commit{id, {{0, nodes, {0}}}}));
    ASSERT_TRUE(rank_.call(ipc::WaitStored{id, 0}));
    ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  }
  void expect_no_wake_ups() const {
    EXPECT_GE(test_support::sleeps(others_).size(), 3u) << "server, flusher and janitor";
    EXPECT_TRUE(test_support::eventually("every thread sleeps until it is woken",
                                         [this] { return test_support::all_sleep_for(kLong, others_); }));
  }

  const std::set<int> others_ = test_support::threads();
  ipc::Channel rank_;
};

TEST_F(IdleEngine, SleepsWhenEverythingIsStoredAndTheApplicationComputes) {
  start("flush.max_slowdown=0.05;flush.max_bandwidth=1GB");
  for (std::uint64_t version = 1; version <= 4; ++version) checkpoint(version);
  expect_no_wake_ups();
}

TEST_F(IdleEngine, SleepsBetweenTwoScrapesOfItsMetrics) {
  start("");
  checkpoint(1);
  ASSERT_TRUE(rank_.call(ipc::Metrics{}));
  expect_no_wake_ups();
  ASSERT_TRUE(rank_.call(ipc::Metrics{}));
  expect_no_wake_ups();
}

TEST_F(IdleEngine, SleepsWithEmulatedDevices) {
  std::ofstream(directory_ / "node.toml") << "tiers = [\"file\"]\n[tier.file]\nstreams = [1, 4]\nvariability = 0.2\n"
                                             "bytes_per_s = [\"1GB\", \"2GB\"]\n[store]\nstreams = [1]\n"
                                             "variability = 0.2\nbytes_per_s = [\"1GB\"]\n";
  start("emulate.description=" + directory_ / "node.toml");
  for (std::uint64_t version = 1; version <= 2; ++version) checkpoint(version);
  expect_no_wake_ups();
}

TEST_F(IdleEngine, SleepsUntilItsIdleTimeIsOver) {
  start("engine.idle_exit=3600", true);
  checkpoint(1);
  rank_.close();
  expect_no_wake_ups();
}

TEST_F(IdleEngine, SleepsWhenItIsToEndAndARankIsStillThere) {
  start("");
  checkpoint(1);
  ASSERT_TRUE(rank_.call(ipc::Shutdown{}));
  expect_no_wake_ups();
}

// Looking is no work, and a client that has not sent Hello yet has not begun any.
TEST_F(IdleEngine, EndsWhileToolsLookAtItAllTheTime) {
  start("engine.idle_exit=0.3", true);
  rank_.close();
  std::atomic<bool> over = false;
  std::thread waiter([&] {
    engine_->wait_until_over();
    over = true;
  });
  EXPECT_TRUE(test_support::eventually("it ends, though somebody looks", [&] {
    if (auto tool = ipc::Channel::connect(engine_->socket_path())) {
      os::sleep_ns(1'000'000);  // wait: the server sees a connection before it hears who it is
      ipc::Hello looks;
      looks.client = false;
      (void)tool->call(looks);
      (void)tool->call(ipc::Metrics{});
    }
    return over.load();
  }));
  engine_->stop();
  waiter.join();
}

// Retention waits for other nodes' part of a version. That is no reason to wake up all the time.
TEST_F(IdleEngine, SleepsWhileItWaitsForOthersBeforeItEnds) {
  start("engine.idle_exit=0.01", true);
  checkpoint(1, 2);
  rank_.close();
  os::sleep_ns(100'000'000);  // wait: its idle time is over, and it has not ended
  EXPECT_TRUE(test_support::quiescent(others_)) << "some thread is never at rest";
}

}  // namespace
}  // namespace perdure::engine
