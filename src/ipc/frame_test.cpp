// Tests frames on a stream: whole, split and damaged. Also tests what peers of protocol 6, whose messages were CBOR,
// see and get.
#include "ipc/frame.hpp"

#include <gtest/gtest.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "ipc/messages.hpp"
#include "support/sample_requests.hpp"

namespace perdure::ipc {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kMagic = 0x37524450, kOutdatedMagic = 0x4d524450;

Bytes joined(const std::vector<Bytes>& frames) {
  Bytes stream;
  for (const Bytes& frame : frames) stream.insert(stream.end(), frame.begin(), frame.end());
  return stream;
}

std::vector<Bytes> drain(Decoder& decoder) {
  std::vector<Bytes> payloads;
  for (;;) {
    const auto frame = decoder.next();
    if (!frame) ADD_FAILURE() << frame.error().text();
    if (!frame || !frame->has_value()) return payloads;
    EXPECT_FALSE((*frame)->outdated);
    payloads.emplace_back((*frame)->payload.begin(), (*frame)->payload.end());
  }
}

std::vector<Bytes> payloads_of(const Bytes& stream, std::size_t step) {
  Decoder decoder;
  std::vector<Bytes> got;
  for (std::size_t at = 0; at < stream.size(); at += step) {
    decoder.feed(base::ConstByteSpan(stream).subspan(at, std::min(step, stream.size() - at)));
    for (auto& payload : drain(decoder)) got.push_back(std::move(payload));
  }
  return got;
}

Bytes header(std::uint32_t magic, std::uint32_t length) {
  const std::uint32_t words[2] = {magic, length};
  const auto raw = std::as_bytes(std::span(words));
  return {raw.begin(), raw.end()};
}

Bytes outdated_frame(const base::Json& message) {
  const Bytes cbor = base::encode_cbor(message);
  Bytes frame = header(kOutdatedMagic, static_cast<std::uint32_t>(cbor.size()));
  frame.insert(frame.end(), cbor.begin(), cbor.end());
  return frame;
}

TEST(Frames, SplitAnywhereGiveTheSamePayloads) {
  const Bytes stream = joined(test_support::sample_request_frames(1));
  const auto whole = payloads_of(stream, stream.size());
  EXPECT_EQ(whole.size(), AllMessages::kCount);
  for (std::size_t step : {1U, 2U, 3U, 7U, 64U, 1000U}) EXPECT_EQ(payloads_of(stream, step), whole) << step;
}

TEST(Frames, TwoSplitAtEveryByteComeWhole) {
  const Bytes stream = joined({encode_request(1, Progress{}), encode_request(2, Inventory{"nbody", false})});
  const auto whole = payloads_of(stream, stream.size());
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Decoder decoder;
    decoder.feed(base::ConstByteSpan(stream).first(cut));
    auto got = drain(decoder);
    decoder.feed(base::ConstByteSpan(stream).subspan(cut));
    for (auto& payload : drain(decoder)) got.push_back(std::move(payload));
    EXPECT_EQ(got, whole) << "split at " << cut;
  }
}

TEST(Frames, AStreamThatIsNeverQuiteEmptyIsDecodedToItsEnd) {
  const Bytes frame = encode_request(1, Progress{});
  Decoder decoder;
  std::size_t count = 0;
  decoder.feed(base::ConstByteSpan(frame).first(3));  // from now on the stream always ends in a part of a frame
  for (int i = 0; i < 5000; ++i) {
    decoder.feed(base::ConstByteSpan(frame).subspan(3));
    decoder.feed(base::ConstByteSpan(frame).first(3));
    count += drain(decoder).size();
  }
  EXPECT_EQ(count, 5000U);
}

TEST(Frames, OneWithoutTheMagicIsRefused) {
  for (const std::uint32_t magic : {kMagic + 1, kOutdatedMagic + 1, 0U}) {
    Decoder decoder;
    decoder.feed(header(magic, 4));
    EXPECT_EQ(decoder.next().error().code, PERDURE_CORRUPT);
  }
}

TEST(Frames, AGiantOneIsRefusedBeforeItsBytesCome) {
  for (std::uint32_t length : {kMaxFrame + 1, 0xffffffffU}) {
    Decoder decoder;
    decoder.feed(header(kMagic, length));
    auto frame = decoder.next();
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, PERDURE_CORRUPT);
  }
}

TEST(Frames, OneOfTheLargestSizeIsWaitedFor) {
  Decoder decoder;
  decoder.feed(header(kMagic, kMaxFrame));
  EXPECT_FALSE(decoder.next().value().has_value());
}

TEST(Frames, AMegabyteComesWhole) {
  const Note note{std::string(1 << 20, 'x')};
  Decoder decoder;
  decoder.feed(encode_request(1, note));
  const auto payloads = drain(decoder);
  ASSERT_EQ(payloads.size(), 1u);
  EXPECT_EQ(decode_request<Note>(base::ConstByteSpan(payloads[0]).subspan(9))->text, note.text);
}

TEST(Frames, TheGreetingIsAHelloToAnEngineOfProtocol6) {
  const Bytes frame = encode_request(1, Hello{});
  EXPECT_TRUE(std::equal(frame.begin(), frame.begin() + 4, header(kOutdatedMagic, 0).begin()));
  const auto json = base::decode_cbor(base::ConstByteSpan(frame).subspan(8), "test");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["op"], "hello");
  EXPECT_EQ((*json)["seq"], 1u);
  EXPECT_EQ((*json)["protocol"], 7u) << "by which it refuses it";
  EXPECT_EQ((*json)["fingerprint"], "");
  EXPECT_EQ((*json)["rank"], 0u);
  EXPECT_EQ((*json)["first_node"], false);
  EXPECT_EQ((*json)["client"], false);
}

TEST(Frames, TheGreetingIsAHelloToAnEngineOfThisProtocol) {
  const Hello hello{kProtocol, "print", 3, true, true};
  for (const Bytes& payload : payloads_of(encode_request(1, hello), 10)) {
    base::ConstByteSpan fields = payload;
    ASSERT_TRUE(take_head(fields));
    EXPECT_EQ(decode_request<Hello>(fields)->fingerprint, "print");
  }
}

TEST(Frames, AClientOfProtocol6IsRefusedInItsOwnWords) {
  const Bytes frame = outdated_frame({{"op", "hello"},
                                      {"seq", 1},
                                      {"protocol", 6},
                                      {"fingerprint", "0123"},
                                      {"rank", 0},
                                      {"first_node", false},
                                      {"client", true}});
  Decoder decoder;
  decoder.feed(frame);
  const auto taken = decoder.next().value();
  ASSERT_TRUE(taken && taken->outdated);
  const Bytes refusal = refuse_outdated(taken->payload, kProtocol);
  EXPECT_TRUE(std::equal(refusal.begin(), refusal.begin() + 4, frame.begin()));
  const auto json = base::decode_cbor(base::ConstByteSpan(refusal).subspan(8), "test");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["seq"], 1u);
  EXPECT_EQ((*json)["error"],
            (base::Json{{"code", static_cast<unsigned>(PERDURE_UNSUPPORTED)},
                        {"object", "engine"},
                        {"cause", "it speaks protocol " + std::to_string(kProtocol) + ", the client 6"},
                        {"remedy", "use the same release of Perdure for library and perdured"},
                        {"retryable", false}}));
}

TEST(Frames, AnythingOutdatedIsRefused) {
  for (const Bytes& payload : {Bytes(), Bytes(3), Bytes(5000, std::byte{0x81})}) {
    const Bytes refusal = refuse_outdated(payload, kProtocol);
    const auto json = base::decode_cbor(base::ConstByteSpan(refusal).subspan(8), "test");
    ASSERT_TRUE(json) << json.error().text();
    EXPECT_EQ((*json)["error"]["cause"],
              "it speaks protocol " + std::to_string(kProtocol) + ", the client an older one");
  }
}

}  // namespace
}  // namespace perdure::ipc
