// Clients that misbehave: each is dropped or told, and the engine serves the others.
#include <algorithm>
#include <thread>

#include "base/json.hpp"
#include "engine/engine_fixture.hpp"
#include "ipc/address_codec.hpp"
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
  /// Everything that comes until the engine ends the connection.
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
  const Bytes good = ipc::encode_frame({{"op", "progress"}});
  Bytes bad_magic = good, bad_length = good, bad_payload = good;
  bad_magic[0] ^= std::byte{1};
  std::fill_n(bad_length.begin() + 4, 4, std::byte{0xff});
  std::fill(bad_payload.begin() + 8, bad_payload.end(), std::byte{0xff});
  for (const Bytes& bytes : {bad_magic, bad_length, bad_payload, Bytes(100'000, std::byte{0x41})}) {
    EXPECT_EQ(answer_to(engine_->socket_path(), bytes), Bytes());
    expect_good_client_is_served();
    auto report = good_.call(ipc::NextReport{});
    ASSERT_TRUE(report && report->contains("report"));
    EXPECT_NE((*report)["report"].get<std::string>().find("no message"), std::string::npos);
  }
}

TEST_F(ServerOfAnEngine, AMessageWithoutASequenceNumberEndsTheConnection) {
  EXPECT_EQ(answer_to(engine_->socket_path(), ipc::encode_frame({{"op", "progress"}})), Bytes());
  EXPECT_EQ(answer_to(engine_->socket_path(), ipc::encode_frame(base::Json::array({1, 2}))), Bytes());
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, NothingIsDoneBeforeHello) {
  ipc::Channel stranger = ipc::Channel::connect(engine_->socket_path()).value();
  for (const auto& request : test_support::sample_requests()) {
    if (std::holds_alternative<ipc::Hello>(request)) continue;
    EXPECT_EQ(stranger.call(request).error().code, PERDURE_INVALID_ARGUMENT);
  }
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
  const Bytes frame = ipc::encode_frame(ipc::to_json(ipc::Request(hello())));
  for (std::size_t length = 0; length < frame.size(); length += 5) {
    const os::Fd socket = os::connect_to(engine_->socket_path()).value();
    ASSERT_TRUE(os::send_all(socket, base::ConstByteSpan(frame).first(length)));
  }
  expect_good_client_is_served();
}

TEST_F(ServerOfAnEngine, WhoNeverReadsTheRepliesIsDroppedAndReported) {
  const os::Fd socket = os::connect_to(engine_->socket_path()).value();
  base::Json greeting = ipc::to_json(ipc::Request(hello())), request = ipc::to_json(ipc::Request(ipc::Progress{}));
  greeting["seq"] = request["seq"] = 1;
  ASSERT_TRUE(os::send_all(socket, ipc::encode_frame(greeting)));
  Bytes many;
  for (const Bytes frame = ipc::encode_frame(request); many.size() < 64 * base::KiB;)
    many.insert(many.end(), frame.begin(), frame.end());
  std::size_t sent = 0;
  while (sent < 8 * base::MiB && os::send_all(socket, many)) sent += many.size();
  EXPECT_LT(sent, 8 * base::MiB) << "replies without bound were kept for it";
  expect_good_client_is_served();
  auto report = good_.call(ipc::NextReport{});
  ASSERT_TRUE(report && report->contains("report"));
  EXPECT_NE((*report)["report"].get<std::string>().find("did not read its replies"), std::string::npos);
}

TEST_F(ServerOfAnEngine, WhoReadsLateGetsEveryReply) {
  constexpr std::uint64_t kRequests = 1000;  // their replies are more than a socket keeps
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    const auto posted = good_.post(ipc::Progress{});
    ASSERT_TRUE(posted);
    last = *posted;
  }
  EXPECT_TRUE(good_.await(last)) << "after all the others";
  EXPECT_TRUE(good_.await(last - kRequests + 1));
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
  EXPECT_TRUE((*held)["held"].empty());
}

TEST_F(ServerOfAnEngine, WhatIsKeptForOtherNodesIsToldOnlyToWhoAsksForIt) {
  const auto held = good_.call(ipc::Inventory{"", false}), kept = good_.call(ipc::Inventory{"", true});
  ASSERT_TRUE(held && kept);
  EXPECT_FALSE(held->contains("kept"));
  EXPECT_TRUE(kept->contains("kept") && kept->contains("held"));
}

TEST_F(ServerOfAnEngine, ARealTierAnswersThatAChunkIsWrittenAtOnceOrNotAtAll) {
  const segment::VersionId id{"nbody", 7, {1000, 1}};
  const auto granted = good_.call(ipc::Grant{id, 5000, 0, {}, {}});
  ASSERT_TRUE(granted);
  const auto slot = ipc::address_from_json((*granted)["slot"]);
  ASSERT_TRUE(slot);
  ipc::Written written{id, 0, 0, slot->tier, slot->slot, 5000, {}, false};
  ASSERT_TRUE(good_.tell(written));
  ipc::Written nonsense = written;
  nonsense.slot += 100;
  ASSERT_TRUE(good_.tell(nonsense)) << "nobody hears of the error";
  EXPECT_EQ((*good_.call(ipc::Progress{}))["seq"], 5u) << "no reply to the two came before";
  written.reply = true;
  EXPECT_TRUE(good_.call(written));
}

TEST_F(ServerOfAnEngine, StoppingEndsTheWaitForItsEnd) {
  std::thread waiting([this] { engine_->wait_until_over(); });
  engine_->stop();
  waiting.join();
  EXPECT_TRUE(good_.engine_gone());
}

// Room for one chunk, and two ranks.
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
