// Tests the four messages against an eavesdropper who knows their content, but has no key.
#include "network/handshakes.hpp"

#include <gtest/gtest.h>

namespace perdure::network {
namespace {

constexpr std::uint64_t kNow = 1000, kUntil = 1'000'000;

/// A wire that only keeps sent messages.
class KeepingWire : public Wire {
 public:
  explicit KeepingWire(Bytes address) : address_(std::move(address)) {}
  base::Status start(WireEvents&) override { return {}; }
  void stop() override {}
  Bytes address() const override { return address_; }
  std::size_t max_message() const override { return 4096; }
  base::Result<WirePeer> connect(ConstByteSpan) override { return ++peers_; }
  void forget(WirePeer) override { ++forgotten_; }
  base::Status send(WirePeer, ConstByteSpan message) override {
    sent_.emplace_back(message.begin(), message.end());
    return {};
  }
  base::Result<WireMemory> expose(ByteSpan, Access) override { return WireMemory{}; }
  void withdraw(const WireMemory&) override {}
  base::Result<WireBufferPointer> make_buffer(std::size_t) override { return WireBufferPointer(); }
  base::Status begin(WireTransfer) override { return {}; }

  /// Returns the messages since the last call: one of this kind.
  template <class Kind>
  Kind taken() {
    EXPECT_EQ(sent_.size(), 1U);
    const auto bytes = sent_.empty() ? Bytes() : sent_.back();
    sent_.clear();
    const auto message = decode_message(bytes);
    const Kind* kind = message ? std::get_if<Kind>(&message->body) : nullptr;
    EXPECT_NE(kind, nullptr);
    return kind == nullptr ? Kind{} : *kind;
  }
  bool silent() const { return sent_.empty(); }
  int forgotten() const { return forgotten_; }

 private:
  Bytes address_;
  std::vector<Bytes> sent_;
  WirePeer peers_ = 0;
  int forgotten_ = 0;
};

class HandshakesTest : public testing::Test {
 protected:
  static JobKey key_of(int number) {
    JobKey key;
    key.fill(static_cast<std::byte>(number));
    return key;
  }
  /// Makes an eavesdropper's proof: all is known to it but the key.
  Mac forged(Step step) const { return prove(key_of(43), step, introduction); }
  Mac true_proof(Step step) const { return prove(key, step, introduction); }

  /// The initiator has said hello, and the responder has answered; the answer is not there yet.
  Welcome exchange_nonces() {
    EXPECT_TRUE(initiator.begin(there, kNow, kUntil));
    const auto hello = initiator_wire.taken<Hello>();
    EXPECT_TRUE(responder.on_message(hello, kNow));
    const auto welcome = responder_wire.taken<Welcome>();
    introduction.initiator_nonce = hello.nonce;
    introduction.responder_nonce = welcome.responder;
    return welcome;
  }
  static void expect_unauthenticated(const base::Result<std::optional<Established>>& outcome) {
    ASSERT_FALSE(outcome) << (outcome->has_value() ? "a session stands" : "it was not noticed");
    EXPECT_EQ(outcome.error().code, PERDURE_PERMISSION);
  }

  Hello hello_from(const Address& from) const {
    const Introduction said{from, there.incarnation, fresh_nonce(), {}};
    return {encode(from), said.responder, said.initiator_nonce, prove(key, Step::hello, said)};
  }

  const JobKey key = key_of(42);
  const Address here{Bytes(8, std::byte{1}), 77}, there{Bytes(8, std::byte{2}), 99};
  Introduction introduction{here, there.incarnation, {}, {}};
  KeepingWire initiator_wire{here.wire}, responder_wire{there.wire};
  Handshakes initiator{initiator_wire, key, here, {10, 100}}, responder{responder_wire, key, there, {10, 100}};
};

TEST_F(HandshakesTest, OfFourMessagesMakeOneSessionOfTwoSecrets) {
  ASSERT_TRUE(initiator.on_message(exchange_nonces(), kNow));
  const auto at_responder = responder.on_message(initiator_wire.taken<Proof>(), kNow);
  ASSERT_TRUE(at_responder && at_responder->has_value());
  const auto at_initiator = initiator.on_message(responder_wire.taken<Ready>(), kNow);
  ASSERT_TRUE(at_initiator && at_initiator->has_value());
  EXPECT_EQ((*at_initiator)->remote, there);
  EXPECT_EQ((*at_responder)->remote, here);
  EXPECT_EQ((*at_initiator)->says, (*at_responder)->expects);
  EXPECT_EQ((*at_responder)->says, (*at_initiator)->expects);
  EXPECT_NE((*at_initiator)->says, (*at_responder)->says);
  EXPECT_FALSE(initiator.trying(there.incarnation));
  EXPECT_EQ(responder.half_open(), 0U);
}

TEST_F(HandshakesTest, DoNotBelieveAProofOfOneWhoKnowsBothNoncesButNotTheKey) {
  const Welcome welcome = exchange_nonces();
  for (const Mac& mac : {Mac{}, forged(Step::proof), welcome.proof, true_proof(Step::hello)}) {
    expect_unauthenticated(
        responder.on_message(Proof{introduction.initiator_nonce, introduction.responder_nonce, mac}, kNow));
    EXPECT_TRUE(responder_wire.silent());
  }
  Nonce other = introduction.responder_nonce;
  other[3] ^= std::byte{1};
  expect_unauthenticated(
      responder.on_message(Proof{introduction.initiator_nonce, other, true_proof(Step::proof)}, kNow));
  const auto session = responder.on_message(
      Proof{introduction.initiator_nonce, introduction.responder_nonce, true_proof(Step::proof)}, kNow);
  EXPECT_TRUE(session && session->has_value()) << "who has the key is not stopped by that";
}

TEST_F(HandshakesTest, DoNotBelieveAWelcomeOrAReadyOfOneWhoKnowsBothNoncesButNotTheKey) {
  const Welcome welcome = exchange_nonces();
  for (const Mac& mac : {Mac{}, forged(Step::welcome), true_proof(Step::hello)}) {
    expect_unauthenticated(initiator.on_message(Welcome{welcome.initiator, welcome.responder, mac}, kNow));
    EXPECT_TRUE(initiator_wire.silent());
  }
  ASSERT_TRUE(initiator.on_message(welcome, kNow));
  const auto proof = initiator_wire.taken<Proof>();
  for (const Mac& mac : {Mac{}, forged(Step::ready), welcome.proof, proof.proof}) {
    expect_unauthenticated(initiator.on_message(Ready{introduction.initiator_nonce, mac}, kNow));
    EXPECT_TRUE(initiator.trying(there.incarnation));
  }
  const auto session = initiator.on_message(Ready{introduction.initiator_nonce, true_proof(Step::ready)}, kNow);
  EXPECT_TRUE(session && session->has_value()) << "who has the key is not stopped by that";
}

TEST_F(HandshakesTest, AreNotEndedByARefusalOfOneWhoKnowsTheNonceButNotTheKey) {
  const Welcome welcome = exchange_nonces();
  introduction.responder_nonce = {};
  for (const Mac& mac : {Mac{}, forged(Step::refuse), welcome.proof, true_proof(Step::hello)}) {
    expect_unauthenticated(initiator.on_message(Refuse{introduction.initiator_nonce, mac}, kNow));
    EXPECT_FALSE(initiator.refused(there.incarnation));
  }
  const auto refused = initiator.on_message(Refuse{introduction.initiator_nonce, true_proof(Step::refuse)}, kNow);
  EXPECT_TRUE(refused && !refused->has_value());
  EXPECT_TRUE(initiator.refused(there.incarnation)) << "who has the key may say so";
}

TEST_F(HandshakesTest, OfWhichThereAreTooManyForgetTheOldestAndNotWhatIsSettled) {
  Handshakes few(responder_wire, key, there, {10, 100, 2});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(few.on_message(hello_from(here), kNow));
  EXPECT_EQ(few.half_open(), 2U);
  few.settle(here.incarnation);
  EXPECT_EQ(few.half_open(), 0U);
  EXPECT_EQ(responder_wire.forgotten(), 2);
  for (int i = 0; i < 5; ++i) {
    const Address from{Bytes(8, static_cast<std::byte>(10 + i)), 1000U + static_cast<unsigned>(i)};
    ASSERT_TRUE(few.on_message(hello_from(from), kNow));
    EXPECT_EQ(few.half_open(), std::min(2U, 1U + static_cast<unsigned>(i)));
  }
  EXPECT_EQ(responder_wire.forgotten(), 2 + 3);
}

TEST_F(HandshakesTest, EndWhenTheirTimeIsUp) {
  ASSERT_TRUE(initiator.begin(there, kNow, kUntil));
  EXPECT_LT(initiator.tick(kUntil - 1), kUntil + 100);
  EXPECT_TRUE(initiator.trying(there.incarnation));
  (void)initiator.tick(kUntil);
  EXPECT_FALSE(initiator.trying(there.incarnation));
  EXPECT_EQ(initiator_wire.forgotten(), 1);
}

}  // namespace
}  // namespace perdure::network
