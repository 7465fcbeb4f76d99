// Tests that a peer without the job key gets nothing and stops nobody.
#include "network/proof.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "network/network_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::network {
namespace {

using test_support::eventually;

/// A bare wire that records messages.
class Listener : public WireEvents {
 public:
  explicit Listener(std::unique_ptr<Wire> end) : wire(std::move(end)) { EXPECT_TRUE(wire->start(*this)); }
  ~Listener() override { wire->stop(); }
  void on_message(ConstByteSpan message) override {
    const std::lock_guard lock(mutex_);
    heard_.emplace_back(message.begin(), message.end());
  }
  void on_transfer(std::uint64_t, base::Status) override {}
  void on_send_failed(WirePeer, const base::Error&) override {}
  std::vector<Bytes> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  void say(const Bytes& wire_address, const Bytes& message) {
    const auto peer = wire->connect(wire_address);
    ASSERT_TRUE(peer);
    EXPECT_TRUE(wire->send(*peer, message));
  }
  std::unique_ptr<Wire> wire;

 private:
  std::mutex mutex_;
  std::vector<Bytes> heard_;
};

class ProofTest : public ::testing::Test {
 protected:
  static Bytes wire_of(const Endpoint& endpoint) { return decode_address(endpoint.address())->wire; }
  /// Returns when all messages sent before are handled.
  void settle(Endpoint& endpoint) {
    auto friendly = open_endpoint(fabric->make_wire(), sample_options());
    const PeerId peer = connected(*friendly, endpoint);
    EXPECT_TRUE(friendly->call(peer, text_bytes("ab"), kPatience));
  }
  std::shared_ptr<MemoryFabric> fabric = MemoryFabric::make();
  std::atomic<int> served{0};
  Handlers counting{[this](PeerId, ConstByteSpan) -> base::Result<Bytes> {
                      ++served;
                      return Bytes{};
                    },
                    {}};
};

TEST_F(ProofTest, DependsOnKeyStepAddressesAndBothNonces) {
  JobKey key{};
  const Introduction introduction{{Bytes(8), 1}, 2, fresh_nonce(), fresh_nonce()};
  std::set<Mac> all{prove(key, Step::hello, introduction), prove(key, Step::proof, introduction)};
  for (int field = 0; field < 5; ++field) {
    Introduction other = introduction;
    JobKey other_key = key;
    if (field == 0) other.initiator.wire[0] = std::byte{1};
    if (field == 1) other.initiator.incarnation = 3;
    if (field == 2) other.responder = 3;
    if (field == 3) other.initiator_nonce[0] ^= std::byte{1};
    if (field == 4) other.responder_nonce[0] ^= std::byte{1};
    all.insert(prove(key, Step::hello, other));
    other_key[static_cast<std::size_t>(field)] = std::byte{1};
    all.insert(prove(other_key, Step::hello, introduction));
    EXPECT_FALSE(proves(prove(key, Step::hello, other), key, Step::hello, introduction));
  }
  EXPECT_EQ(all.size(), 12u);
  EXPECT_TRUE(proves(prove(key, Step::hello, introduction), key, Step::hello, introduction));
}

TEST_F(ProofTest, AnotherKeyGetsNothingAndIsNamed) {
  auto server = open_endpoint(fabric->make_wire(), sample_options(), counting);
  auto options = sample_options();
  options.job_key.fill(std::byte{43});
  auto stranger = open_endpoint(fabric->make_wire(), options);
  const auto peer = stranger->connect(server->address(), 100'000'000);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, PERDURE_TIMEOUT);
  settle(*server);
  const auto statistics = server->statistics();
  EXPECT_GT(statistics.unauthenticated, 0u);
  ASSERT_FALSE(statistics.last_unauthenticated.empty());
  EXPECT_EQ(statistics.last_unauthenticated[0].object, decode_address(stranger->address())->text());
  EXPECT_EQ(statistics.half_open, 0u) << "a stranger leaves nothing behind";
  EXPECT_EQ(stranger->statistics().messages_received, 0u) << "not even an answer";
}

TEST_F(ProofTest, AnEngineWithoutTheKeyIsNotBelievedWhenItAnswers) {
  Listener fake(fabric->make_wire());
  auto client = open_endpoint(fabric->make_wire(), sample_options());
  std::thread answer([&] {
    ASSERT_TRUE(eventually("the client introduces itself", [&] { return !fake.heard().empty(); }));
    const Bytes first = fake.heard()[0];
    const auto message = decode_message(first);
    ASSERT_TRUE(message);
    const auto& hello = std::get<Hello>(message->body);
    fake.say(wire_of(*client), encode({0, Welcome{hello.nonce, fresh_nonce(), {}}}));
    fake.say(wire_of(*client), encode({0, Ready{hello.nonce, {}}}));
  });
  EXPECT_FALSE(client->connect(encode(Address{fake.wire->address(), 5}), 200'000'000));
  answer.join();
  EXPECT_GT(client->statistics().unauthenticated, 0u);
}

TEST_F(ProofTest, NothingIsServedBeforeTheProof) {
  auto server = open_endpoint(fabric->make_wire(), sample_options(), counting);
  Listener stranger(fabric->make_wire());
  const Bytes to = wire_of(*server);
  for (std::uint64_t session = 0; session < 50; ++session) {
    stranger.say(to, encode({session, Fragment{{0, 1}, false, 0, 1024, 0, {}}}));
    stranger.say(to, encode({session, Ping{}}));
    stranger.say(to, encode({session, Goodbye{}}));
    stranger.say(to, encode({0, Proof{}}));
  }
  settle(*server);
  EXPECT_EQ(served, 1) << "the friend's";
  EXPECT_TRUE(stranger.heard().empty());
}

TEST_F(ProofTest, WhatWasOverheardIsUselessLater) {
  auto options = sample_options();
  auto server = open_endpoint(fabric->make_wire(), options, counting);
  // Overhears a whole introduction: plays the initiator with the key, and keeps the messages.
  std::vector<Bytes> tape;
  const Bytes to = wire_of(*server);
  {
    Listener initiator(fabric->make_wire());
    const Address self{initiator.wire->address(), 77};
    Introduction introduction{self, decode_address(server->address())->incarnation, fresh_nonce(), {}};
    tape.push_back(encode({0, Hello{encode(self), introduction.responder, introduction.initiator_nonce,
                                    prove(options.job_key, Step::hello, introduction)}}));
    initiator.say(to, tape.back());
    ASSERT_TRUE(eventually("the server answers", [&] { return !initiator.heard().empty(); }));
    const Bytes answer = initiator.heard()[0];
    introduction.responder_nonce = std::get<Welcome>(decode_message(answer)->body).responder;
    tape.push_back(encode({0, Proof{introduction.initiator_nonce, introduction.responder_nonce,
                                    prove(options.job_key, Step::proof, introduction)}}));
    initiator.say(to, tape.back());
    tape.push_back(encode(
        {session_number(options.job_key, Step::to_responder, introduction), Fragment{{0, 1}, false, 0, 1024, 0, {}}}));
    initiator.say(to, tape.back());
    ASSERT_TRUE(eventually("the request is served", [&] { return served > 0; }));
    tape.push_back(encode({session_number(options.job_key, Step::to_responder, introduction), Goodbye{}}));
    initiator.say(to, tape.back());
  }
  ASSERT_TRUE(eventually("the peer has left", [&] { return server->statistics().peers == 0; }));
  Listener thief(fabric->make_wire());
  for (int round = 0; round < 3; ++round)
    for (const Bytes& message : tape) thief.say(to, message);
  settle(*server);
  EXPECT_EQ(served, 2) << "the first one's and the friend's";
  EXPECT_LE(server->statistics().half_open, 2u);
}

TEST_F(ProofTest, GarbageDisturbsNobody) {
  auto server = open_endpoint(fabric->make_wire(), sample_options(), counting);
  auto client = open_endpoint(fabric->make_wire(), sample_options());
  const PeerId peer = connected(*client, *server);
  Listener stranger(fabric->make_wire());
  for (std::uint64_t i = 0; i < 2000; ++i) stranger.say(wire_of(*server), sample_bytes(i, i % 600));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(client->call(peer, {}, kPatience));
  EXPECT_EQ(server->statistics().dropped, 2000u);
  EXPECT_EQ(server->statistics().peers, 1u);
}

TEST_F(ProofTest, AHalfFinishedIntroductionIsForgottenWhenThereAreMany) {
  auto options = sample_options();
  auto server = open_endpoint(fabric->make_wire(), options, counting);
  Listener initiator(fabric->make_wire());
  const Address self{initiator.wire->address(), 77};
  for (int i = 0; i < 500; ++i) {
    const Introduction introduction{self, decode_address(server->address())->incarnation, fresh_nonce(), {}};
    initiator.say(wire_of(*server), encode({0, Hello{encode(self), introduction.responder, introduction.initiator_nonce,
                                                     prove(options.job_key, Step::hello, introduction)}}));
  }
  settle(*server);
  EXPECT_LE(server->statistics().half_open, 64u);
  EXPECT_EQ(served, 1);
}

TEST_F(ProofTest, AnEngineThatWasRestartedSaysSo) {
  auto server = open_endpoint(fabric->make_wire(), sample_options(), counting);
  Address old = *decode_address(server->address());
  old.incarnation ^= 0x10;
  auto client = open_endpoint(fabric->make_wire(), sample_options());
  const auto peer = client->connect(encode(old), kPatience);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, PERDURE_PEER_FAILED);
  EXPECT_TRUE(client->connect(server->address(), kPatience));
}

}  // namespace
}  // namespace perdure::network
