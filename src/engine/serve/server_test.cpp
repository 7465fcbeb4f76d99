// Tests clients that misbehave: each is dropped or gets an error, and the engine serves the others.
#include <algorithm>
#include <thread>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "engine/host/engine_testing.hpp"
#include "engine/serve/handlers.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/sample_requests.hpp"

namespace perdure::engine {
namespace {

using Bytes = std::vector<std::byte>;

class ServerOfAnEngine : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started = start("chunk_bytes=128KiB;tier.memory.max_bytes=16MiB;tier.file.max_bytes=16MiB");
    ASSERT_TRUE(started) << started.error().text();
    good_ = client();
  }
  void expect_good_client_is_served() {
    auto reply = good_.call(ipc::Progress{});
    EXPECT_TRUE(reply) << reply.error().text();
  }
  void expect_report(const std::string& words) {
    const auto report = good_.call(ipc::NextReport{});
    ASSERT_TRUE(report && report->text);
    EXPECT_NE(report->text->find(words), std::string::npos) << *report->text;
  }
  /// Returns all bytes that come until the engine ends the connection.
  static Bytes answer_to(const std::string& socket_path, const Bytes& sent) {
    const os::Fd socket = os::connect_to(socket_path).value();
    (void)os::send_all(socket, sent);
    Bytes all, block(4096);
    for (;;) {
      auto got = os::receive_some(socket, block, 0);
      if (!got || *got == 0) return all;
      all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(*got));
    }
  }

  ipc::Channel good_;
};

TEST_F(ServerOfAnEngine, WhoSendsNoMessagesIsDroppedAndReported) {
  const Bytes good = ipc::encode_request(1, ipc::Progress{});
  Bytes bad_magic = good, bad_length = good;
  bad_magic[0] ^= std::byte{1};
  std::fill_n(bad_length.begin() + 4, 4, std::byte{0xff});
  for (const Bytes& bytes : {bad_magic, bad_length, Bytes(100'000, std::byte{0x41})}) {
    EXPECT_EQ(answer_to(engine_->socket_path(), bytes), Bytes());
    expect_good_client_is_served();
    expect_report("no message");
  }
}

TEST_F(ServerOfAnEngine, WithoutADescriptorForWhoComesSaysSo) {
  os::FaultRules faults({{"accept", "", EMFILE, 1, 1}});
  ipc::Channel newcomer;
  {
    const test_support::InstalledHooks installed(faults);
    newcomer = ipc::Channel::connect(engine_->socket_path()).value();
    const auto refused = newcomer.call(ipc::Hello{});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_UNAVAILABLE);
    EXPECT_NE(refused.error().text().find("accept: Too many open files"), std::string::npos) << refused.error().text();
    EXPECT_NE(refused.error().remedy.find("ulimit -n"), std::string::npos);
  }
  expect_report("accepts no connection");
  expect_good_client_is_served();
  EXPECT_TRUE(client().call(ipc::Progress{})) << "who comes later is served";
}

// It might be a rank that begins, so the engine would not end as long as it is connected.
TEST_F(ServerOfAnEngine, WhoSaysNothingIsDroppedInTime) {
  Bytes begun = ipc::encode_request(1, ipc::Progress{});
  begun.resize(1);
  const os::Fd silent = os::connect_to(engine_->socket_path()).value();
  const os::Fd slow = os::connect_to(engine_->socket_path()).value();
  ASSERT_TRUE(os::send_all(slow, begun));
  expect_good_client_is_served();
  constexpr std::int64_t kPatience_ns = 31'000'000'000;
  os::shift_monotonic_clock(kPatience_ns);
  expect_good_client_is_served();
  Bytes block(64);
  for (const os::Fd* socket : {&silent, &slow}) {
    const auto got = os::receive_some(*socket, block, 60'000'000'000);
    EXPECT_TRUE(got ? *got == 0 : got.error().code != PERDURE_TIMEOUT) << "it is still connected";
  }
  expect_good_client_is_served();
  os::shift_monotonic_clock(-kPatience_ns);
}

// A one-way message has no answer that could carry the error.
TEST_F(ServerOfAnEngine, WhoIsNotAnsweredAndSendsNonsenseIsDroppedAndReported) {
  Bytes sent = ipc::encode_request(1, hello());
  Bytes nonsense;
  ipc::FrameWriter frame(nonsense);
  base::append_fields(frame.payload(), std::pair(std::uint64_t{2}, ipc::kOperation<ipc::Step>));
  frame.payload().resize(frame.payload().size() + 3);  // a Step has 8 bytes
  frame.finish();
  sent.insert(sent.end(), nonsense.begin(), nonsense.end());
  EXPECT_NE(answer_to(engine_->socket_path(), sent), Bytes()) << "its Hello was answered";
  expect_good_client_is_served();
  expect_report("no message");
}

TEST_F(ServerOfAnEngine, AnOperationThatThereIsNotIsRefused) {
  Bytes frame;
  ipc::FrameWriter writer(frame);
  base::append_fields(writer.payload(), std::uint64_t{5});
  base::append_fields(writer.payload(), static_cast<std::uint8_t>(ipc::AllMessages::kCount));
  writer.finish();
  const os::Fd socket = os::connect_to(engine_->socket_path()).value();
  ASSERT_TRUE(os::send_all(socket, frame));
  Bytes block(4096);
  const auto got = os::receive_some(socket, block, 0);
  ASSERT_TRUE(got);
  ipc::Decoder decoder;
  decoder.feed(base::ConstByteSpan(block).first(*got));
  auto payload = decoder.next().value()->payload;
  EXPECT_EQ(ipc::take_sequence(payload).value(), 5u);
  const auto reply = ipc::decode_reply<ipc::Done>(payload);
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().text().find("unknown operation"), std::string::npos);
}

TEST_F(ServerOfAnEngine, AClientOfProtocol6IsRefusedInItsOwnWords) {
  const auto cbor = base::encode_cbor({{"op", "hello"}, {"seq", 1}, {"protocol", 6}});
  const std::uint32_t header[2] = {0x4d524450, static_cast<std::uint32_t>(cbor.size())};
  const os::Fd socket = os::connect_to(engine_->socket_path()).value();
  ASSERT_TRUE(os::send_all(socket, std::as_bytes(std::span(header))));
  ASSERT_TRUE(os::send_all(socket, cbor));
  Bytes block(4096);
  const auto got = os::receive_some(socket, block, 0);
  ASSERT_TRUE(got && *got > 8);
  const auto json = base::decode_cbor(base::ConstByteSpan(block).subspan(8, *got - 8), "test");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["error"]["code"], static_cast<unsigned>(PERDURE_UNSUPPORTED));
  EXPECT_EQ((*json)["error"]["cause"], "it speaks protocol " + std::to_string(ipc::kProtocol) + ", the client 6");
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, AMessageWithoutASequenceNumberEndsTheConnection) {
  EXPECT_EQ(answer_to(engine_->socket_path(), ipc::encode_request(0, ipc::Progress{})), Bytes());
  Bytes empty;
  ipc::FrameWriter(empty).finish();
  EXPECT_EQ(answer_to(engine_->socket_path(), empty), Bytes());
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, NothingIsDoneBeforeHello) {
  ipc::Channel stranger = ipc::Channel::connect(engine_->socket_path()).value();
  ipc::AllMessages::for_each([&]<class M>(std::type_identity<M>) {
    if constexpr (ipc::OneWay<M>) {
      EXPECT_TRUE(stranger.tell(test_support::sample_message<M>(1)));
    } else if constexpr (!std::same_as<M, ipc::Hello>) {
      EXPECT_EQ(stranger.call(test_support::sample_message<M>(1)).error().code, PERDURE_INVALID_ARGUMENT) << M::kName;
    }
  });
  EXPECT_TRUE(stranger.call(hello())) << "and it may still begin properly";
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, AnotherProtocolOrConfigurationIsRefusedWithTheReason) {
  ipc::Channel stranger = ipc::Channel::connect(engine_->socket_path()).value();
  ipc::Hello other = hello();
  other.protocol = 99;
  EXPECT_EQ(stranger.call(other).error().code, PERDURE_UNSUPPORTED);
  other = hello();
  other.fingerprint = "of another job";
  EXPECT_EQ(stranger.call(other).error().code, PERDURE_BUSY);
  other.client = false;  // a tool only asks
  EXPECT_TRUE(stranger.call(other));
}

TEST_F(ServerOfAnEngine, AHalfSentMessageWhoseSenderGoesDisturbsNobody) {
  const Bytes frame = ipc::encode_request(1, hello());
  for (std::size_t length = 0; length < frame.size(); length += 5) {
    const os::Fd socket = os::connect_to(engine_->socket_path()).value();
    ASSERT_TRUE(os::send_all(socket, base::ConstByteSpan(frame).first(length)));
  }
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, WhoNeverReadsTheRepliesIsDroppedAndReported) {
  const os::Fd socket = os::connect_to(engine_->socket_path()).value();
  ASSERT_TRUE(os::send_all(socket, ipc::encode_request(1, hello())));
  Bytes many;
  for (const Bytes frame = ipc::encode_request(1, ipc::Progress{}); many.size() < 64 * base::KiB;)
    many.insert(many.end(), frame.begin(), frame.end());
  std::size_t sent = 0;
  while (sent < 8 * base::MiB && os::send_all(socket, many)) sent += many.size();
  EXPECT_LT(sent, 8 * base::MiB) << "replies without bound were kept for it";
  expect_good_client_is_served();
  expect_report("did not read its replies");
}

TEST_F(ServerOfAnEngine, WhoReadsLateGetsEveryReply) {
  constexpr std::uint64_t kRequests = 1000;  // their replies are more than a socket buffers
  std::vector<ipc::Posted<ipc::FlushProgress>> posted;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    const auto one = good_.post(ipc::Progress{});
    ASSERT_TRUE(one);
    posted.push_back(*one);
  }
  EXPECT_TRUE(good_.await(posted.back())) << "after all the others";
  EXPECT_TRUE(good_.await(posted.front()));
}

TEST_F(ServerOfAnEngine, RequestsThatMakeNoSenseHereAreAnsweredWithErrorsAndChangeNothing) {
  const segment::VersionId id{"nbody", 7, {1000, 1}};
  EXPECT_FALSE(good_.call(ipc::Stage{id, 1, test_support::sample_piece(id, 0, 5000, 4096)})) << "slots not granted";
  EXPECT_FALSE(good_.call(ipc::Locate{id, 0}));
  EXPECT_FALSE(good_.call(ipc::Commit{id, {{0, 1, {0}}}}));
  (void)good_.call(ipc::Abort{id});
  (void)good_.call(ipc::Quarantine{id, 0, 0, "no reason"});
  auto held = good_.call(ipc::Inventory{"", false});
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->held.empty());
}

TEST_F(ServerOfAnEngine, WhatIsKeptForOtherNodesIsToldOnlyToWhoAsksForIt) {
  const auto held = good_.call(ipc::Inventory{"", false}), kept = good_.call(ipc::Inventory{"", true});
  ASSERT_TRUE(held && kept);
  EXPECT_FALSE(held->kept);
  EXPECT_TRUE(kept->kept);
}

TEST_F(ServerOfAnEngine, ARealTierAnswersThatAChunkIsWrittenAtOnceOrNotAtAll) {
  const segment::VersionId id{"nbody", 7, {1000, 1}};
  const auto granted = good_.call(ipc::Grant{id, 5000, 0, {}, {}});
  ASSERT_TRUE(granted);
  const ipc::Written written{id, 0, 0, granted->slot.tier, granted->slot.slot, 5000, {}};
  ASSERT_TRUE(good_.tell(written));
  ipc::Written nonsense = written;
  nonsense.slot += 100;
  ASSERT_TRUE(good_.tell(nonsense)) << "nobody hears of the error";
  EXPECT_TRUE(good_.call(ipc::Progress{}));
  EXPECT_TRUE(good_.call(ipc::AwaitWritten{written}));
  EXPECT_FALSE(good_.call(ipc::AwaitWritten{nonsense}));
}

TEST(Handlers, EveryMessageOfTheTableHasOne) {
  const Handlers handlers;
  ipc::AllMessages::for_each(
      [&]<class M>(std::type_identity<M>) { EXPECT_TRUE(handlers.has(ipc::kOperation<M>)) << M::kName; });
}

TEST_F(ServerOfAnEngine, StoppingEndsTheWaitForItsEnd) {
  std::thread waiting([this] { engine_->wait_until_over(); });
  engine_->stop();
  waiting.join();
  EXPECT_TRUE(good_.engine_gone());
}

// There is room for one chunk, and there are two ranks.
TEST_F(EngineFixture, ARankThatEndsBeforeItSaidWhatItWritesKeepsNobodyWaiting) {
  ASSERT_TRUE(start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB"));
  const segment::VersionId id{"app", 1, {1, 1}};
  const segment::ChunkEntry chunk{0, 64 * base::KiB, {}, 0};
  auto first = client(0), second = client(1);
  ASSERT_TRUE(
      first.tell(ipc::Begin{id, 2, {0, chunk.length, {{0, 1, 2 * chunk.length}}, {chunk, chunk}}, {{0, 1, {0, 1}}}}));
  const ipc::Grant request{id, chunk.length, 0, {}, {}};
  ASSERT_TRUE(first.call(request));
  const auto waiting = first.post(request).value();
  EXPECT_TRUE(second.call(ipc::Progress{}));
  second.close();
  EXPECT_EQ(first.await(waiting, 20'000'000'000).error().code, PERDURE_NO_SPACE);
}

}  // namespace
}  // namespace perdure::engine
