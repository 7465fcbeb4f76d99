// Frames on a stream, whole, split, damaged; and a client's connection to an engine that a thread of the test plays.
#include "ipc/channel.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "base/json.hpp"
#include "support/sample_requests.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::ipc {
namespace {

using base::Json;
using Bytes = std::vector<std::byte>;

Bytes stream_of(const std::vector<Json>& messages) {
  Bytes stream;
  for (const Json& message : messages) {
    const Bytes frame = encode_frame(message);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  return stream;
}

std::vector<Json> drain(Decoder& decoder) {
  std::vector<Json> messages;
  for (;;) {
    auto message = decoder.next();
    if (!message) ADD_FAILURE() << message.error().text();
    if (!message || !message->has_value()) return messages;
    messages.push_back(std::move(**message));
  }
}

Bytes header(std::uint32_t magic, std::uint32_t length) {
  const std::uint32_t words[2] = {magic, length};
  const auto raw = std::as_bytes(std::span(words));
  return {raw.begin(), raw.end()};
}

constexpr std::uint32_t kMagic = 0x4d524450;

TEST(Decoder, FramesSplitAnywhereGiveTheSameMessages) {
  const auto messages = test_support::sample_messages();
  const Bytes stream = stream_of(messages);
  for (std::size_t step : {1U, 2U, 3U, 7U, 64U, 1000U, 100000U}) {
    Decoder decoder;
    std::vector<Json> got;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      decoder.feed(base::ConstByteSpan(stream).subspan(at, std::min(step, stream.size() - at)));
      for (auto& message : drain(decoder)) got.push_back(std::move(message));
    }
    EXPECT_EQ(got, messages) << "in pieces of " << step;
  }
}

TEST(Decoder, TwoMessagesSplitAtEveryByteComeWhole) {
  const std::vector<Json> messages = {to_json(Request(Progress{})), to_json(Request(Inventory{"nbody", false}))};
  const Bytes stream = stream_of(messages);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Decoder decoder;
    decoder.feed(base::ConstByteSpan(stream).first(cut));
    std::vector<Json> got = drain(decoder);
    decoder.feed(base::ConstByteSpan(stream).subspan(cut));
    for (auto& message : drain(decoder)) got.push_back(std::move(message));
    EXPECT_EQ(got, messages) << "split at " << cut;
  }
}

TEST(Decoder, AStreamThatIsNeverQuiteEmptyIsDecodedToItsEnd) {
  const Bytes frame = encode_frame(to_json(Request(Progress{})));
  Decoder decoder;
  std::size_t count = 0;
  decoder.feed(base::ConstByteSpan(frame).first(3));  // from now on there is always a begun frame
  for (int i = 0; i < 5000; ++i) {
    decoder.feed(base::ConstByteSpan(frame).subspan(3));
    decoder.feed(base::ConstByteSpan(frame).first(3));
    count += drain(decoder).size();
  }
  EXPECT_EQ(count, 5000U);
}

TEST(Decoder, AFrameWithoutTheMagicIsRefused) {
  Decoder decoder;
  decoder.feed(header(kMagic + 1, 4));
  EXPECT_EQ(decoder.next().error().code, PERDURE_CORRUPT);
}

TEST(Decoder, AGiantFrameIsRefusedBeforeItsBytesCome) {
  for (std::uint32_t length : {kMaxFrame + 1, 0xffffffffU}) {
    Decoder decoder;
    decoder.feed(header(kMagic, length));
    auto message = decoder.next();
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, PERDURE_CORRUPT);
  }
}

TEST(Decoder, AFrameOfTheLargestSizeIsWaitedFor) {
  Decoder decoder;
  decoder.feed(header(kMagic, kMaxFrame));
  EXPECT_FALSE(decoder.next().value().has_value());
}

TEST(Decoder, APayloadThatIsNoCborIsRefused) {
  for (const Bytes& payload : {Bytes(0), Bytes(9, std::byte{0xff}), Bytes(5000, std::byte{0x81})}) {
    Bytes frame = header(kMagic, static_cast<std::uint32_t>(payload.size()));
    frame.insert(frame.end(), payload.begin(), payload.end());
    Decoder decoder;
    decoder.feed(frame);
    EXPECT_FALSE(decoder.next());
  }
}

TEST(Decoder, AMegabyteInOneMessageComesWhole) {
  const Json message = {{"ok", true}, {"report", std::string(1 << 20, 'x')}};
  Decoder decoder;
  decoder.feed(encode_frame(message));
  EXPECT_EQ(drain(decoder), std::vector<Json>{message});
}

/// Listens, takes one connection and runs `body` with it in a thread.
class Peer {
 public:
  explicit Peer(std::function<void(const os::Fd&)> body) : listener_(os::listen_at(path()).value()) {
    thread_ = std::thread([this, body = std::move(body)] {
      for (;;) {
        auto socket = os::accept_from(listener_);
        if (!socket) return;
        if (*socket) return body(*socket);
        std::this_thread::yield();
      }
    });
  }
  ~Peer() { thread_.join(); }
  std::string path() const { return directory_.path() + "/socket"; }

 private:
  test_support::TemporaryDirectory directory_;
  os::Fd listener_;
  std::thread thread_;
};

/// The next request of a client, with its sequence number.
Json receive(const os::Fd& socket, Decoder& decoder) {
  for (;;) {
    auto message = decoder.next();
    if (!message) return {};
    if (message->has_value()) return std::move(**message);
    std::byte bytes[256];
    auto got = os::receive_some(socket, bytes, 0);
    if (!got || *got == 0) return {};
    decoder.feed(base::ConstByteSpan(bytes).first(*got));
  }
}

void reply(const os::Fd& socket, const Json& request, Json answer) {
  answer["seq"] = request["seq"];
  (void)os::send_all(socket, encode_frame(answer));
}

TEST(Channel, ACallGetsItsReply) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const Json request = receive(socket, decoder);
    reply(socket, request, {{"ok", true}, {"op", request["op"]}});
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).value()["op"], "progress");
}

TEST(Channel, RepliesMayComeInAnyOrder) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    std::vector<Json> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(receive(socket, decoder));
    for (int i : {1, 2, 0}) reply(socket, requests[static_cast<std::size_t>(i)], {{"ok", true}, {"number", i}});
  });
  Channel channel = Channel::connect(peer.path()).value();
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 3; ++i) sequences.push_back(channel.post(Progress{}).value());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(channel.await(sequences[i]).value()["number"], i);
}

TEST(Channel, AnErrorThatTheEngineSendsIsTheCallsError) {
  Peer peer([](const os::Fd& socket) {
    Decoder decoder;
    const Json request = receive(socket, decoder);
    reply(socket, request, error_reply({PERDURE_BUSY, "engine", "it has other work", "", true}));
    (void)receive(socket, decoder);  // until the client goes
  });
  Channel channel = Channel::connect(peer.path()).value();
  EXPECT_EQ(channel.call(Progress{}).error().code, PERDURE_BUSY);
  EXPECT_TRUE(channel.connected());
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
