// Tests the connection guard: a lost peer is noticed, once, and can come back.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "network/network_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::network {
namespace {

/// Records lost peers, in order.
class Losses {
 public:
  Handlers handlers() {
    return {reverse, [this](PeerId peer, const base::Error& error) {
              const std::lock_guard lock(mutex_);
              all_.emplace_back(peer, error);
              changed_.notify_all();
            }};
  }
  std::vector<std::pair<PeerId, base::Error>> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(kPatience), [&] { return all_.size() >= count; });
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<PeerId, base::Error>> all_;
};

EndpointOptions guarded() {
  EndpointOptions options = sample_options();
  options.guard_interval_ns = 10'000'000;
  options.guard_limit_ns = 200'000'000;
  return options;
}

Bytes guarded_wire(const Endpoint& endpoint) { return decode_address(endpoint.address())->wire; }

TEST(Guard, APeerThatIsCutOffIsLostOnceAndItsCallsFail) {
  auto fabric = MemoryFabric::make();
  Losses losses;
  auto client = open_endpoint(fabric->make_wire(), guarded(), losses.handlers());
  auto server = open_endpoint(fabric->make_wire(), guarded());
  const PeerId peer = connected(*client, *server);
  const std::string name = *client->name_of(peer);
  Bytes memory(1000), copy(1000);
  const auto exposed = server->expose(memory, Access::read);
  ASSERT_TRUE(exposed);
  fabric->cut_off(guarded_wire(*server));
  auto read = std::async(std::launch::async, [&] { return client->read(peer, *exposed, 0, copy, kPatience); });
  const auto reply = client->call(peer, text_bytes("x"), kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, PERDURE_PEER_FAILED);
  EXPECT_EQ(reply.error().object, name);
  const auto outcome = read.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, PERDURE_PEER_FAILED);
  const auto lost = losses.wait_for(1);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].first, peer);
  EXPECT_EQ(lost[0].second.object, name);
  EXPECT_EQ(client->call(peer, text_bytes("x"), kPatience).error().code, PERDURE_PEER_FAILED);
}

TEST(Guard, AnIdlePeerThatLivesIsNotLost) {
  auto fabric = MemoryFabric::make();
  Losses losses;
  auto options = guarded();
  options.guard_limit_ns = 30'000'000'000;
  auto client = open_endpoint(fabric->make_wire(), options, losses.handlers());
  auto server = open_endpoint(fabric->make_wire(), options);
  const PeerId peer = connected(*client, *server);
  const std::uint64_t ticks = client->statistics().clock_ticks;
  ASSERT_TRUE(
      test_support::eventually("its clock goes on", [&] { return client->statistics().clock_ticks >= ticks + 20; }));
  EXPECT_GT(client->statistics(peer)->pings + server->statistics(connected(*server, *client))->pings, 0u);
  EXPECT_TRUE(client->call(peer, text_bytes("x"), kPatience));
}

TEST(Guard, AnEndpointWithoutPeersSleeps) {
  auto fabric = MemoryFabric::make();
  auto lonely = open_endpoint(fabric->make_wire(), guarded());
  auto other = open_endpoint(fabric->make_wire(), guarded()), third = open_endpoint(fabric->make_wire(), guarded());
  connected(*other, *third);
  ASSERT_TRUE(test_support::eventually("its clock goes on", [&] { return other->statistics().clock_ticks >= 20; }));
  EXPECT_EQ(lonely->statistics().clock_ticks, 0u);
  EXPECT_EQ(lonely->statistics().messages_received, 0u);
}

TEST(Guard, BothSidesOfAPartitionNoticeAndMeetAgain) {
  auto fabric = MemoryFabric::make();
  Losses of_a, of_b;
  auto a = open_endpoint(fabric->make_wire(), guarded(), of_a.handlers());
  auto b = open_endpoint(fabric->make_wire(), guarded(), of_b.handlers());
  const PeerId before = connected(*a, *b);
  ASSERT_TRUE(a->call(before, text_bytes("x"), kPatience));
  fabric->cut(guarded_wire(*a), guarded_wire(*b));
  ASSERT_EQ(of_a.wait_for(1).size(), 1u);
  ASSERT_EQ(of_b.wait_for(1).size(), 1u);
  fabric->heal();
  const PeerId after = connected(*a, *b);
  EXPECT_NE(after, before);
  EXPECT_TRUE(a->call(after, text_bytes("x"), kPatience));
}

TEST(Guard, ANewIncarnationIsAnotherPeer) {
  auto fabric = MemoryFabric::make();
  Losses losses;
  auto client = open_endpoint(fabric->make_wire(), guarded(), losses.handlers());
  auto server = open_endpoint(fabric->make_wire(), guarded());
  const PeerId before = connected(*client, *server);
  fabric->kill(guarded_wire(*server));
  ASSERT_EQ(losses.wait_for(1).size(), 1u);
  server.reset();
  server = open_endpoint(fabric->make_wire(), guarded());
  const PeerId after = connected(*client, *server);
  EXPECT_NE(after, before);
  EXPECT_TRUE(client->call(after, text_bytes("x"), kPatience));
}

TEST(Guard, TwoHundredLossesLeaveNothingBehind) {
  auto fabric = MemoryFabric::make();
  Losses losses;
  auto options = sample_options();
  auto client = open_endpoint(fabric->make_wire(), options, losses.handlers());
  Bytes memory(5000), copy(5000);
  for (std::size_t round = 1; round <= 200; ++round) {
    auto server = open_endpoint(fabric->make_wire(), options);
    const PeerId peer = connected(*client, *server);
    ASSERT_TRUE(client->call(peer, Bytes(10'000), kPatience));
    const auto name = server->expose(memory, Access::read);
    ASSERT_TRUE(name);
    ASSERT_TRUE(client->read(peer, *name, 0, copy, kPatience));
    server.reset();  // says goodbye
    ASSERT_EQ(losses.wait_for(round).size(), round);
  }
  const auto statistics = client->statistics();
  EXPECT_EQ(statistics.peers, 0u);
  EXPECT_EQ(statistics.half_open, 0u);
  EXPECT_EQ(statistics.transfers, 0u);
}

}  // namespace
}  // namespace perdure::network
