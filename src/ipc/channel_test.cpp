// Tests a client's connection to an engine, which a thread of the test plays.
#include "ipc/channel.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::ipc {
namespace {

using Bytes = std::vector<std::byte>;

/// Listens, takes one connection and runs `body` with it in a thread.
class Peer {
 public:
  explicit Peer(std::function<void(const os::Fd&)> body) : listener_(os::listen_at(path()).value()) {
    thread_ = std::thread([this, body = std::move(body)] {
      os::Fd socket;
      EXPECT_TRUE(test_support::eventually("somebody connects", [&] {
        auto accepted = os::accept_from(listener_);
        const bool over = !accepted || *accepted;
        if (accepted) socket = std::move(*accepted);
        return over;
      }));
      if (socket) body(socket);
    });
  }
  ~Peer() { thread_.join(); }
  std::string path() const { return directory_.path() + "/socket"; }

 private:
  test_support::TemporaryDirectory directory_;
  os::Fd listener_;
  std::thread thread_;
};

/// Returns the head of a client's next request; an empty one if the client closed.
RequestHead receive(const os::Fd& socket, Decoder& decoder) {
  for (;;) {
    const auto frame = decoder.next();
    if (!frame) return {};
    if (frame->has_value()) {
      base::ConstByteSpan payload = (*frame)->payload;
      return take_head(payload).value_or(RequestHead{});
    }
    std::byte bytes[256];
    auto got = os::receive_some(socket, bytes, 0);
    if (!got || *got == 0) return {};
    decoder.feed(base::ConstByteSpan(bytes).first(*got));
  }
}

void reply(const os::Fd& socket, const RequestHead& request, const base::Result<FlushProgress>& answer) {
  Bytes frame;
  append_reply(frame, request.sequence, answer);
  (void)os::send_all(socket, frame);
}

FlushProgress pending(std::uint64_t bytes) {
  FlushProgress progress;
  progress.bytes_pending = bytes;
  return progress;
}

TEST(Channel, ACallGetsItsReply) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const auto request = receive(socket, decoder);
    reply(socket, request, pending(request.operation));
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).value().bytes_pending, kOperation<Progress>);
}

// The engine would end the connection, as if it had died.
TEST(Channel, AMessageThatNoEngineTakesIsRefusedAndTheConnectionStays) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const auto request = receive(socket, decoder);
    reply(socket, request, pending(request.operation));
  });
  Channel channel = Channel::connect(peer.path()).value();
  Note note;
  note.text.assign(kMaxFrame, 'x');
  const auto refused = channel.call(note);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(refused.error().text().find(std::to_string(kMaxFrame) + " can be taken"), std::string::npos);
  EXPECT_TRUE(channel.connected());
  EXPECT_TRUE(channel.call(Progress{}));
}

TEST(Channel, RepliesMayComeInAnyOrder) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    std::vector<RequestHead> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(receive(socket, decoder));
    for (std::size_t i : {1U, 2U, 0U}) reply(socket, requests[i], pending(i));
  });
  Channel channel = Channel::connect(peer.path()).value();
  std::vector<Posted<FlushProgress>> posted;
  for (int i = 0; i < 3; ++i) posted.push_back(channel.post(Progress{}).value());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(channel.await(posted[i]).value().bytes_pending, i);
}

TEST(Channel, AnErrorThatTheEngineSendsIsTheCallsError) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const auto request = receive(socket, decoder);
    reply(socket, request, base::fail(PERDURE_BUSY, "engine", "it has other work", "", true));
    (void)receive(socket, decoder);  // until the client closes
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).error().code, PERDURE_BUSY);
  EXPECT_TRUE(channel.connected());
}

TEST(Channel, AReplyThatIsNoneIsAnError) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const auto request = receive(socket, decoder);
    Bytes frame;
    append_reply(frame, request.sequence, base::Result<Done>(Done{}));  // for another request
    (void)os::send_all(socket, frame);
    (void)receive(socket, decoder);
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).error().code, PERDURE_CORRUPT);
}

// Protocol 6 answered like this to a Hello of another protocol.
TEST(Channel, AnEngineOfAnOlderProtocolIsRefusedWithTheReason) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    (void)receive(socket, decoder);
    const auto cbor = base::encode_cbor({{"seq", 1},
                                         {"error",
                                          {{"code", static_cast<unsigned>(PERDURE_UNSUPPORTED)},
                                           {"object", "engine"},
                                           {"cause", "it speaks protocol 6, the client 7"},
                                           {"remedy", ""},
                                           {"retryable", false}}}});
    const std::uint32_t header[2] = {0x4d524450, static_cast<std::uint32_t>(cbor.size())};
    (void)os::send_all(socket, std::as_bytes(std::span(header)));
    (void)os::send_all(socket, cbor);
    (void)receive(socket, decoder);
  });
  Channel channel = Channel::connect(peer.path()).value();
  const auto greeted = channel.call(Hello{});
  ASSERT_FALSE(greeted);
  EXPECT_EQ(greeted.error().code, PERDURE_UNSUPPORTED);
  EXPECT_FALSE(greeted.error().retryable) << "it stays that";
  EXPECT_NE(greeted.error().text().find("older protocol than " + std::to_string(kProtocol)), std::string::npos)
      << greeted.error().text();
  EXPECT_NE(greeted.error().text().find("same release"), std::string::npos);
}

TEST(Channel, AnEngineThatEndsMakesTheCallUnavailableAndRetryable) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    (void)receive(socket, decoder);
  });
  Channel channel = Channel::connect(peer.path()).value();
  auto outcome = channel.call(Progress{});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, PERDURE_UNAVAILABLE);
  EXPECT_TRUE(outcome.error().retryable);
  EXPECT_FALSE(channel.connected());
  EXPECT_TRUE(channel.engine_gone());
  EXPECT_EQ(channel.call(Progress{}).error().code, PERDURE_UNAVAILABLE) << "and so are all later ones";
}

TEST(Channel, AnEngineThatSendsGarbageIsLeft) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    (void)receive(socket, decoder);
    (void)os::send_all(socket, Bytes(100, std::byte{0x41}));
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).error().code, PERDURE_CORRUPT);
  EXPECT_FALSE(channel.connected());
}

TEST(Channel, ACallWithoutAnAnswerTimesOutAndClosesBecauseTheAnswerCouldComeLater) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    (void)receive(socket, decoder);
    (void)receive(socket, decoder);  // ends when the client closes
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}, 1'000'000).error().code, PERDURE_TIMEOUT);
  EXPECT_FALSE(channel.connected());
}

TEST(Channel, NobodyListeningIsUnavailable) {
  test_support::TemporaryDirectory directory;
  EXPECT_EQ(Channel::connect(directory.path() + "/socket").error().code, PERDURE_UNAVAILABLE);
}

TEST(Channel, AnIdleEngineIsNotGone) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    (void)receive(socket, decoder);
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_FALSE(channel.engine_gone());
  channel.close();
  EXPECT_TRUE(channel.engine_gone());
}

}  // namespace
}  // namespace perdure::ipc
