// Tests the pool as clients use it: allocate, put, get, and the rings.
#include <gmock/gmock.h>

#include "parity/channel.hpp"
#include "parity/parity_testing.hpp"

namespace perdure::parity {
namespace {

using network::error_text;

class PoolMemoryOfClients : public ParityTest {
 protected:
  void SetUp() override { start(); }
  PoolMemory allocated(std::string_view id, std::uint64_t bytes) {
    const auto memory = client_->allocate(text_bytes(id), bytes);
    EXPECT_TRUE(memory) << error_text(memory);
    return memory ? *memory : PoolMemory{};
  }
};

TEST_F(PoolMemoryOfClients, IsZeroKeepsWhatIsPutAndOutlivesItsClient) {
  const PoolMemory memory = allocated("m", 10'000);
  Bytes all(10'000, std::byte{1});
  ASSERT_TRUE(client_->get(memory, 0, all));
  EXPECT_EQ(all, Bytes(10'000));
  const Bytes data = sample_bytes(1, 777);
  ASSERT_TRUE(client_->put(memory, 9000, data));
  user_.reset();
  user_ = network::open_endpoint(fabric_->make_wire(), network::sample_options());
  client_ = std::make_unique<Client>(*user_, server_->address(), patient());
  const auto again = client_->open(text_bytes("m"));
  ASSERT_TRUE(again) << error_text(again);
  EXPECT_EQ(again->bytes, 10'000u);
  Bytes got(777);
  ASSERT_TRUE(client_->get(*again, 9000, got));
  EXPECT_EQ(got, data);
}

TEST_F(PoolMemoryOfClients, RefusesWhatIsNotThereAndWhatDoesNotFit) {
  const PoolMemory memory = allocated("m", 1000);
  EXPECT_EQ(allocated("m", 1000).memory, memory.memory) << "the same again";
  EXPECT_EQ(client_->allocate(text_bytes("m"), 1001).error().code, PERDURE_EXISTS);
  EXPECT_EQ(client_->allocate(text_bytes("n"), 0).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(client_->allocate(text_bytes("n"), ~std::uint64_t{0}).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(client_->allocate(text_bytes("n"), 2U << 20U).error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(client_->put(memory, 1000, text_bytes("x")).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(client_->put(memory, ~std::uint64_t{0}, text_bytes("x")).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(client_->put(memory, 0, Bytes(kMaxInline + 1)).error().code, PERDURE_INVALID_ARGUMENT);
  Bytes target(10);
  EXPECT_EQ(client_->get(memory, 991, target).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(client_->open(text_bytes("n")).error().code, PERDURE_NOT_FOUND);
  add_node({100});
  EXPECT_EQ(client_->encode(order_of(nodes_, "m")).error().code, PERDURE_EXISTS);
  ASSERT_EQ(encoded("order").stage, Stage::done);
  EXPECT_EQ(client_->open(text_bytes("order")).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(client_->allocate(text_bytes("order"), 100).error().code, PERDURE_EXISTS);
}

TEST_F(PoolMemoryOfClients, ReleasedMemoryIsRoomAgainAndPutsToItFail) {
  const std::uint64_t free = server_->inventory().free_bytes;
  const PoolMemory memory = allocated("m", 100'000);
  EXPECT_LT(server_->inventory().free_bytes, free);
  ASSERT_TRUE(client_->release(text_bytes("m")));
  ASSERT_TRUE(client_->release(text_bytes("m"))) << "may be repeated";
  EXPECT_EQ(server_->inventory().free_bytes, free);
  EXPECT_EQ(client_->put(memory, 0, text_bytes("x")).error().code, PERDURE_NOT_FOUND);
}

TEST_F(PoolMemoryOfClients, AChannelCarriesMoreThanItsRingsHold) {
  const PoolMemory memory = allocated("m", 200'000);
  const auto channel = Channel::open(*client_, {4, 8192, 2, 1000});
  ASSERT_TRUE(channel) << error_text(channel);
  const Bytes data = sample_bytes(2, 200'000);
  std::deque<std::uint64_t> under_way;
  const auto collect = [&] {
    const auto over = (*channel)->wait(under_way.front(), kPatience);
    ASSERT_TRUE(over) << error_text(over);
    EXPECT_TRUE(over->status) << error_text(over->status);
    (*channel)->free(under_way.front());
    under_way.pop_front();
  };
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes = std::min<std::size_t>(at % 3 == 0 ? 8192 : 555, data.size() - at);
    if (under_way.size() == 4) collect();
    const auto ticket = (*channel)->put(memory, at, ConstByteSpan(data).subspan(at, bytes), kPatience);
    ASSERT_TRUE(ticket) << error_text(ticket);
    under_way.push_back(*ticket);
    at += bytes;
  }
  while (!under_way.empty()) collect();
  Bytes got;
  for (std::size_t at = 0; at < data.size(); at += 8000) {
    const auto ticket = (*channel)->get(memory, at, std::min<std::size_t>(8000, data.size() - at), kPatience);
    ASSERT_TRUE(ticket);
    const auto over = (*channel)->wait(*ticket, kPatience);
    ASSERT_TRUE(over && over->status);
    got.insert(got.end(), over->data.begin(), over->data.end());
    (*channel)->free(*ticket);
  }
  EXPECT_EQ(got, data);
  EXPECT_EQ((*channel)->slots_free(), 8u);
}

TEST_F(PoolMemoryOfClients, AFullRingHoldsItsUserUpAndNotificationsTellOfErrors) {
  const PoolMemory memory = allocated("m", 5000);
  const auto channel = Channel::open(*client_, {2, 4096, 1, 0});
  ASSERT_TRUE(channel);
  const auto outside = (*channel)->put(memory, 4999, text_bytes("ab"), kPatience);
  const auto inside = (*channel)->put(memory, 0, text_bytes("ab"), kPatience);
  ASSERT_TRUE(outside && inside);
  EXPECT_EQ((*channel)->put(memory, 0, text_bytes("c"), 1'000'000).error().code, PERDURE_TIMEOUT);
  EXPECT_EQ((*channel)->wait(*outside, kPatience)->status.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_TRUE((*channel)->wait(*inside, kPatience)->status);
  (*channel)->free(*outside);
  EXPECT_EQ((*channel)->wait(*outside, 0).error().code, PERDURE_NOT_FOUND);
  EXPECT_TRUE((*channel)->put(memory, 0, text_bytes("c"), kPatience));
  EXPECT_EQ((*channel)->put(memory, 0, Bytes(4097), kPatience).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ((*channel)->get(memory, 0, 4097, kPatience).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Channel::open(*client_, {0, 4096, 1, 0}).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(PoolMemoryOfClients, TransfersToADeadServerEndWithErrors) {
  ClientOptions hasty{200'000'000, 200'000'000, 200'000'000};
  Client client(*user_, server_->address(), hasty);
  const PoolMemory memory = allocated("m", 5000);
  const auto channel = Channel::open(client, {2, 4096, 1, 0});
  ASSERT_TRUE(channel);
  fabric_->kill(network::decode_address(server_->address())->wire);
  const auto put = (*channel)->put(memory, 0, text_bytes("ab"), kPatience);
  const auto get = (*channel)->get(memory, 0, 100, kPatience);
  ASSERT_TRUE(put && get);
  EXPECT_FALSE((*channel)->wait(*put, kPatience)->status);
  const auto got = (*channel)->wait(*get, kPatience);
  EXPECT_FALSE(got->status);
  EXPECT_TRUE(got->data.empty());
}

}  // namespace
}  // namespace perdure::parity
