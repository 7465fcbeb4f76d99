// Tests the memory wire's faults, and the endpoint under them, over many seeds.
#include "network/memory_wire.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "base/hash.hpp"
#include "network/network_testing.hpp"
#include "support/eventually.hpp"

namespace perdure::network {
namespace {

TEST(MemoryWire, TheSameSeedDecidesTheSame) {
  Faults faults{.lose = 0.3, .duplicate = 0.3, .corrupt = 0.3, .reorder = 0.3, .delay_ns = 1000};
  int differ = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    const Fate one = decide_fate(faults, 7, 1, 2, n), again = decide_fate(faults, 7, 1, 2, n);
    EXPECT_EQ(one.lost, again.lost);
    EXPECT_EQ(one.copies, again.copies);
    EXPECT_EQ(one.flip_count, again.flip_count);
    EXPECT_EQ(one.delay_ns[0], again.delay_ns[0]);
    if (decide_fate(faults, 8, 1, 2, n).lost != one.lost) ++differ;
  }
  EXPECT_GT(differ, 0);
}

/// Counts how often each numbered request was carried out.
class CountingServer {
 public:
  base::Result<Bytes> serve(PeerId, ConstByteSpan request) {
    std::uint64_t number = 0;
    if (request.size() >= sizeof number) std::memcpy(&number, request.data(), sizeof number);
    const std::lock_guard lock(mutex_);
    if (!seen_.insert(number).second) ++twice_;
    return Bytes(request.rbegin(), request.rend());
  }
  Handlers handlers() {
    return {[this](PeerId peer, ConstByteSpan request) { return serve(peer, request); }, {}};
  }
  std::size_t seen() const { return seen_.size(); }
  int twice() const { return twice_; }

 private:
  std::mutex mutex_;
  std::set<std::uint64_t> seen_;
  std::atomic<int> twice_{0};
};

Bytes numbered(std::uint64_t number, std::size_t size) {
  Bytes bytes = sample_bytes(number, std::max(size, sizeof number));
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

EndpointOptions hasty() {
  EndpointOptions options = sample_options();
  options.retry_ns = 2'000'000;
  options.max_retry_ns = 20'000'000;
  return options;
}

/// Runs three engines, all of which call both others over a bad network.
void run_schedule(std::uint64_t seed, const Faults& faults) {
  auto fabric = MemoryFabric::make(seed, faults);
  constexpr std::uint64_t kEnds = 3, kCalls = 12;
  CountingServer servers[kEnds];
  std::vector<std::unique_ptr<Endpoint>> ends;
  for (auto& server : servers) ends.push_back(open_endpoint(fabric->make_wire(), hasty(), server.handlers()));
  std::atomic<std::uint64_t> right{0};
  std::vector<std::thread> threads;
  for (std::uint64_t from = 0; from < kEnds; ++from)
    for (std::uint64_t to = 0; to < kEnds; ++to) {
      if (from == to) continue;
      threads.emplace_back([&, from, to] {
        for (std::uint64_t i = 0; i < kCalls; ++i) {
          const auto peer = ends[from]->connect(ends[to]->address(), kPatience);
          EXPECT_TRUE(peer) << error_text(peer);
          if (!peer) continue;
          const Bytes request = numbered(seed * 1'000'000 + from * 1000 + i, i % 4 == 3 ? 30'000 : 50 * i);
          const auto reply = ends[from]->call(*peer, request, kPatience);
          EXPECT_TRUE(reply) << error_text(reply);
          if (reply && *reply == Bytes(request.rbegin(), request.rend())) ++right;
        }
      });
    }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, kEnds * (kEnds - 1) * kCalls) << "seed " << seed;
  for (const auto& server : servers) {
    EXPECT_EQ(server.twice(), 0) << "seed " << seed;
    EXPECT_EQ(server.seen(), (kEnds - 1) * kCalls) << "seed " << seed;
  }
}

TEST(MemoryWire, LostMessagesAreRepeatedAndCarriedOutOnce) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) run_schedule(seed, {.lose = 0.15});
}
TEST(MemoryWire, DoubledMessagesAreCarriedOutOnce) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) run_schedule(seed, {.duplicate = 0.5});
}
TEST(MemoryWire, ReorderedAndDelayedMessagesArriveWhole) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) run_schedule(seed, {.reorder = 0.3, .delay_ns = 300'000});
}
TEST(MemoryWire, DamagedMessagesAreNeverBelieved) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) run_schedule(seed, {.corrupt = 0.15});
}
TEST(MemoryWire, AllFaultsTogetherDeadlockNothing) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    run_schedule(seed, {.lose = 0.08, .duplicate = 0.1, .corrupt = 0.05, .reorder = 0.15, .delay_ns = 100'000});
}

TEST(MemoryWire, ASlowPeerDelaysOnlyCallsToItself) {
  auto fabric = MemoryFabric::make();
  auto options = sample_options();
  options.window_calls = 2;
  auto client = open_endpoint(fabric->make_wire(), options);
  auto quick = open_endpoint(fabric->make_wire(), options), slow = open_endpoint(fabric->make_wire(), options);
  const PeerId to_quick = connected(*client, *quick), to_slow = connected(*client, *slow);
  fabric->cut_off(slow->address().size() > 8 ? decode_address(slow->address())->wire : Bytes{});
  std::vector<std::thread> stuck;
  for (int i = 0; i < 4; ++i)
    stuck.emplace_back([&] { EXPECT_FALSE(client->call(to_slow, text_bytes("x"), 300'000'000)); });
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(client->call(to_quick, text_bytes("x"), kPatience));
  for (auto& thread : stuck) thread.join();
  fabric->heal();
  const auto reply = client->call(to_slow, text_bytes("ab"), kPatience);
  EXPECT_TRUE(reply) << error_text(reply) << ": what timed out gives its place back when the peer answers";
}

TEST(MemoryWire, CallsOutliveAPartitionThatIsShorterThanTheirPatience) {
  auto fabric = MemoryFabric::make();
  CountingServer counting;
  auto client = open_endpoint(fabric->make_wire(), hasty());
  auto server = open_endpoint(fabric->make_wire(), hasty(), counting.handlers());
  const PeerId peer = connected(*client, *server);
  const Bytes a = decode_address(client->address())->wire, b = decode_address(server->address())->wire;
  for (std::uint64_t round = 0; round < 10; ++round) {
    fabric->cut(a, b);
    std::thread caller([&] { EXPECT_TRUE(client->call(peer, numbered(round, 20'000), kPatience)); });
    const std::uint64_t before = fabric->messages();
    EXPECT_TRUE(test_support::eventually("the call is repeated", [&] { return fabric->messages() >= before + 3; }));
    fabric->heal();
    caller.join();
  }
  EXPECT_EQ(counting.twice(), 0);
  EXPECT_EQ(counting.seen(), 10u);
  EXPECT_GT(client->statistics(peer)->retransmissions, 0u);
}

TEST(MemoryWire, ATransferThatIsCutHoldsItsBufferOnlyUntilThePeerIsGivenUp) {
  auto fabric = MemoryFabric::make();
  auto client = open_endpoint(fabric->make_wire(), hasty()), server = open_endpoint(fabric->make_wire(), hasty());
  const PeerId peer = connected(*client, *server);
  Bytes memory = sample_bytes(1, 100'000), copy(100'000);
  const auto name = server->expose(memory, Access::read);
  ASSERT_TRUE(name);
  fabric->cut_off(decode_address(server->address())->wire);
  const auto read = client->read(peer, *name, 0, copy, 10'000'000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, PERDURE_TIMEOUT);
  EXPECT_EQ(client->statistics().transfers, 1u);
  client->disconnect(peer);
  EXPECT_TRUE(test_support::eventually("the transfer ends", [&] { return client->statistics().transfers == 0; }));
}

}  // namespace
}  // namespace perdure::network
