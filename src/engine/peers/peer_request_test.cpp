// Tests that requests between engines come back as they were, and that malformed ones have no effect.
#include "engine/peers/peer_request.hpp"

#include <gtest/gtest.h>

#include "base/any_value_testing.hpp"

namespace perdure::engine {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<PeerRequest> all_requests(std::uint64_t seed, base::ConstByteSpan message) {
  test_support::AnyValue any(seed);
  return {ToReplicator{message}, any.make<ExportQuestion>(), any.make<ExportEnd>()};
}

TEST(PeerRequests, ComeBackAsTheyWereAndNoPartOfThem) {
  const Bytes message(7, std::byte{3});
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const auto& request : all_requests(seed, message)) {
      auto bytes = encode(request);
      const auto decoded = decode_peer_request(bytes);
      ASSERT_TRUE(decoded) << decoded.error().text();
      EXPECT_EQ(decoded->index(), request.index());
      EXPECT_EQ(encode(*decoded), bytes);
      for (std::size_t length = 0; length < bytes.size(); ++length)
        ASSERT_FALSE(decode_peer_request(base::ConstByteSpan(bytes).first(length)));
      bytes.emplace_back();
      EXPECT_EQ(decode_peer_request(bytes).error().code, PERDURE_CORRUPT);
    }
}

// A question about exports waits for other threads, and the thread that receives messages must not.
TEST(PeerRequests, AreBriefIfTheyAreForTheReplicator) {
  const Bytes message(7, std::byte{3});
  const auto requests = all_requests(1, message);
  for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(is_brief(encode(requests[i])), i == 0) << i;
  EXPECT_FALSE(is_brief(Bytes(40, std::byte{3}))) << "it is nothing";
}

TEST(PeerRequests, OfAnUnknownKindAreRefused) {
  EXPECT_FALSE(decode_peer_request(Bytes{}));
  EXPECT_FALSE(decode_peer_request(Bytes(40, std::byte{3})));
}

TEST(ExportAnswers, ComeBackAsTheyWereAndNoPartOfThem) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto bytes = encode(test_support::AnyValue(seed).make<ExportAnswer>());
    const auto decoded = decode_export_answer(bytes);
    ASSERT_TRUE(decoded) << decoded.error().text();
    EXPECT_EQ(encode(*decoded), bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      ASSERT_FALSE(decode_export_answer(base::ConstByteSpan(bytes).first(length)));
  }
}

TEST(ExportAnswers, APartIsNotLongerThanTheWholeAndNotThereBeforeItIsReady) {
  EXPECT_TRUE(decode_export_answer(encode(ExportAnswer{true, 3, Bytes(3)})));
  EXPECT_FALSE(decode_export_answer(encode(ExportAnswer{true, 2, Bytes(3)})));
  EXPECT_FALSE(decode_export_answer(encode(ExportAnswer{false, 3, Bytes(3)})));
}

}  // namespace
}  // namespace perdure::engine
