#include "parity/frames.hpp"

#include <gtest/gtest.h>

#include "network/network_testing.hpp"

namespace perdure::parity {
namespace {

using network::sample_bytes;
using network::text_bytes;

network::RemoteMemory sample_memory(std::uint64_t key) {
  return {{key, 4096, 1 << 20}, network::Access::read, network::LocalFile{{"/dev/shm/x", 4}, "host", 7, 8, 9}};
}

Order sample_order() {
  Order order{text_bytes("id"), text_bytes("note"), {}};
  for (std::uint64_t p = 0; p < 3; ++p) {
    Member member{text_bytes("address"), {}};
    for (std::uint64_t s = 0; s < p * 2; ++s)
      member.blocks.push_back({sample_memory(s / 2), s * 10, s + 3, base::hash128(sample_bytes(s, 10))});
    order.members.push_back(member);
  }
  return order;
}

std::vector<Request> sample_parity_requests() {
  const Bytes id = text_bytes("some id");
  static const Bytes data = text_bytes("data");
  Rebuild rebuild{id, 3, 2, 999, {}};
  rebuild.survivors.push_back({1, {4, 5}, 6, text_bytes("there"), sample_memory(1), 7});
  rebuild.survivors.push_back({0, {1, 2}, 3, {}, {}, 0});
  return {sample_order(),
          AskStanding{id},
          AskKept{id},
          Drop{id},
          OpenMemory{id},
          AskInventory{},
          AskList{id, id},
          rebuild,
          AskRebuilt{5},
          EndRebuild{6},
          Allocate{id, 7},
          Put{id, 8, data},
          Pull{id, 1, sample_memory(2), 3, 4}};
}

TEST(Frames, EveryRequestComesBackAsItWas) {
  for (const Request& request : sample_parity_requests()) {
    const Bytes frame = encode(request);
    const auto decoded = decode_request(frame);
    ASSERT_TRUE(decoded) << request.index() << ": " << network::error_text(decoded);
    EXPECT_EQ(decoded->index(), request.index());
    EXPECT_EQ(encode(*decoded), frame);
  }
  const auto order = decode_request(encode(sample_order()));
  ASSERT_TRUE(order);
  const auto& member = std::get<Order>(*order).members.at(2);
  EXPECT_EQ(member.blocks.at(3).memory, sample_memory(1));
  EXPECT_EQ(member.blocks.at(3).bytes, 6u);
}

TEST(Frames, TruncatedAndLengthenedRequestsAreNone) {
  for (const Request& request : sample_parity_requests()) {
    Bytes frame = encode(request);
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
      EXPECT_FALSE(decode_request(ConstByteSpan(frame).first(bytes))) << request.index() << " of " << bytes << " bytes";
    frame.push_back(std::byte{0});
    EXPECT_FALSE(decode_request(frame)) << request.index();
  }
}

TEST(Frames, NoCountInAFrameIsBelieved) {
  Bytes frame = encode(Request(sample_order()));
  std::mt19937_64 random(1);
  unsigned refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Bytes changed = frame;
    for (unsigned n = 0; n <= random() % 3; ++n) changed[random() % changed.size()] = std::byte{0xff};
    refused += !decode_request(changed).has_value();
  }
  EXPECT_GT(refused, 300u);
}

TEST(Frames, EveryAnswerComesBackAsItWas) {
  const base::Error error{PERDURE_IO, "object", "cause", "remedy", true};
  const auto standing = decode_standing(encode(Standing{Stage::failed, 5, 6, error}));
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->stage, Stage::failed);
  EXPECT_EQ(standing->bytes_pulled, 5u);
  EXPECT_EQ(standing->why.text(), error.text());
  EXPECT_TRUE(standing->why.retryable);
  const auto kept = decode_kept(encode(Kept{{}, text_bytes("note"), {{1, {2, 3}}, {4, {5, 6}}}}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->note, text_bytes("note"));
  EXPECT_EQ(kept->parities, (std::vector<ParityBlock>{{1, {2, 3}}, {4, {5, 6}}}));
  const std::vector<Listed> page{{text_bytes("a"), true, Stage::done, 7}, {text_bytes("b"), false, Stage::ordered, 8}};
  EXPECT_EQ(decode_page(encode(page)).value(), page);
  const auto inventory = decode_inventory(encode(Inventory{1, 2, 3, 4, 5, 6, 7, 8}));
  ASSERT_TRUE(inventory);
  EXPECT_EQ(inventory->pool_bytes + 10 * inventory->refused, 81u);
  const auto rebuilt = decode_rebuilt(encode(Rebuilt{Stage::done, 9, {}, sample_memory(1)}));
  ASSERT_TRUE(rebuilt);
  EXPECT_EQ(rebuilt->memory, sample_memory(1));
  const auto memory = decode_pool_memory(encode(PoolMemory{{}, 5, sample_memory(3)}));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->memory, sample_memory(3));
  EXPECT_EQ(decode_ticket(encode_ticket(77)).value(), 77u);
}

TEST(Frames, TruncatedAnswersAreNone) {
  const base::Error error{PERDURE_IO, "object", "cause", "remedy", true};
  const Bytes standing = encode(Standing{Stage::failed, 5, 6, error});
  const Bytes kept = encode(Kept{{}, text_bytes("note"), {{1, {2, 3}}, {4, {5, 6}}}});
  const Bytes page = encode(std::vector<Listed>{{text_bytes("a"), true, Stage::done, 7}});
  const Bytes rebuilt = encode(Rebuilt{Stage::done, 9, {}, sample_memory(1)});
  const auto part = [](const Bytes& whole, std::size_t bytes) { return ConstByteSpan(whole).first(bytes); };
  for (std::size_t i = 0; i < standing.size(); ++i) EXPECT_FALSE(decode_standing(part(standing, i)));
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_FALSE(decode_kept(part(kept, i)));
  for (std::size_t i = 1; i < page.size(); ++i) EXPECT_FALSE(decode_page(part(page, i)));
  for (std::size_t i = 0; i < rebuilt.size(); ++i) EXPECT_FALSE(decode_rebuilt(part(rebuilt, i)));
}

}  // namespace
}  // namespace perdure::parity
