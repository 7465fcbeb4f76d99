#include "network/message.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "network/network_testing.hpp"

namespace perdure::network {
namespace {

/// Makes a message whose bytes after the checksum are `rest`.
Bytes sealed(Bytes rest) {
  Bytes bytes(8);
  const std::uint64_t hash = base::hash64(rest);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(hash >> (8 * i));
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

Bytes opened(const Message& message) {
  const Bytes bytes = encode(message);
  return {bytes.begin() + 8, bytes.end()};
}

std::string cause(const Bytes& bytes) {
  const auto message = decode_message(bytes);
  return message ? "" : message.error().cause;
}

const Bytes kPayload = sample_bytes(1, 300);
const Fragment kFragment{{3, 9}, true, 300, 400, 0, kPayload};

TEST(NetworkMessage, SaysWhatWasWritten) {
  const Bytes bytes = encode({77, kFragment});
  const auto message = decode_message(bytes);
  ASSERT_TRUE(message) << error_text(message);
  EXPECT_EQ(message->session, 77u);
  const auto& fragment = std::get<Fragment>(message->body);
  EXPECT_EQ(fragment.call, (CallId{3, 9}));
  EXPECT_TRUE(fragment.reply);
  EXPECT_TRUE(std::equal(fragment.payload.begin(), fragment.payload.end(), kPayload.begin(), kPayload.end()));
}

TEST(NetworkMessage, EveryFlippedBitIsNoticed) {
  const Bytes good = encode({77, kFragment});
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_EQ(cause(bad), "its checksum does not hold");
  }
}

TEST(NetworkMessage, CorruptHead) {
  Bytes rest = opened({77, Ping{}});
  rest[0] ^= std::byte{1};
  EXPECT_EQ(cause(sealed(rest)), "it does not begin with the magic number");
  rest = opened({77, Ping{}});
  rest[4] = std::byte{2};
  EXPECT_EQ(cause(sealed(rest)), "it is of another version of Perdure");
  rest = opened({77, Ping{}});
  rest[5] = std::byte{200};
  EXPECT_EQ(cause(sealed(rest)), "it is of an unknown kind");
  rest = opened({77, Ping{}});
  rest[6] = std::byte{1};
  EXPECT_EQ(cause(sealed(rest)), "its head is damaged");
  EXPECT_EQ(cause({}), "its checksum does not hold");
}

TEST(NetworkMessage, CorruptLength) {
  Bytes rest = opened({77, Withdrawn{5}});
  rest.push_back(std::byte{0});
  EXPECT_EQ(cause(sealed(rest)), "it has another length than its kind has");
  rest.resize(rest.size() - 2);
  EXPECT_EQ(cause(sealed(rest)), "it has another length than its kind has");
}

TEST(NetworkMessage, CorruptFragment) {
  const std::string contradict = "its fields contradict each other";
  Fragment bad = kFragment;
  bad.total = 301;
  EXPECT_EQ(cause(encode({1, bad})), contradict);
  bad = kFragment;
  bad.index = 1;
  EXPECT_EQ(cause(encode({1, bad})), contradict);
  bad = kFragment;
  bad.fragment_bytes = kMinFragment - 1;
  EXPECT_EQ(cause(encode({1, bad})), contradict);
  bad = kFragment;
  bad.index = ~std::uint32_t{0};
  EXPECT_EQ(cause(encode({1, bad})), contradict);
}

TEST(NetworkMessage, CorruptAddressAndMemoryNames) {
  const Bytes address = encode(Address{Bytes(16), 5});
  const Bytes memory = encode(RemoteMemory{{1, 2, 3}, Access::read, LocalFile{{"/x", 1}, "h", 1, 2, 3}});
  ASSERT_TRUE(decode_address(address));
  ASSERT_TRUE(decode_remote_memory(memory));
  for (std::size_t size = 0; size < address.size(); ++size)
    EXPECT_FALSE(decode_address(ConstByteSpan(address).first(size)));
  for (std::size_t size = 0; size < memory.size(); ++size)
    EXPECT_FALSE(decode_remote_memory(ConstByteSpan(memory).first(size)));
  EXPECT_FALSE(decode_remote_memory(encode(RemoteMemory{{1, ~std::uint64_t{0}, 3}, Access::read, {}})));
}

}  // namespace
}  // namespace perdure::network
