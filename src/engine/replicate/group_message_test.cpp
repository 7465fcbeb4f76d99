// Tests that messages between the engines of a group round-trip, and that malformed ones are refused.
#include "engine/replicate/group_message.hpp"

#include <gtest/gtest.h>

#include "base/any_value_testing.hpp"
#include "base/field_codec.hpp"
#include "support/sample_records.hpp"

namespace perdure::engine {
namespace {

std::vector<GroupMessage> sample_messages() {
  const auto id = test_support::sample_id(1);
  const Offer offer{{{0, base::hash128({}), {{std::byte{1}, std::byte{2}}, 4096}}, {1, base::hash128({}), {}}}};
  const Announce announce{"xor", 4, 1, 2, 3, {test_support::sample_piece(id, 0, 5000, 4096)}, offer.blocks};
  return {{{id, 5}, 0, announce},
          {{id, 5}, 1, offer},
          {{id, 5}, 2, Keeps{}},
          {{id, 5}, 3, Stored{}},
          {{id, 5}, 1, Withdraw{"its disk is full"}}};
}

TEST(GroupMessage, EveryKindRoundTrips) {
  for (const auto& message : sample_messages()) {
    const auto again = decode_group_message(encode(message));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(encode(*again), encode(message));
    EXPECT_EQ(again->body.index(), message.body.index());
  }
}

TEST(GroupMessage, AReasonIsReadAgainAndCutWhereItIsTooLong) {
  const auto why = [](const GroupMessage& message) {
    const auto again = decode_group_message(encode(message));
    return again && std::holds_alternative<Withdraw>(again->body) ? std::get<Withdraw>(again->body).why : "";
  };
  EXPECT_EQ(why(sample_messages()[4]), "its disk is full");
  const GroupMessage wordy{sample_messages()[4].id, 1, Withdraw{std::string(5000, 'x')}};
  EXPECT_EQ(why(wordy), std::string(1000, 'x'));
  EXPECT_LT(encode(wordy).size(), 1200U) << "it is cut before it is sent";
  const auto heard = decode_group_message(base::encode_fields(wordy));  // from a sender that cuts nothing
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(std::get<Withdraw>(heard->body).why.size(), 1000U);
}

TEST(GroupMessage, AnyRoundTripsAndNoPartOfItIsOne) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto message = test_support::AnyValue(seed).make<GroupMessage>();
    auto bytes = encode(message);
    const auto again = decode_group_message(bytes);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(encode(*again), bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto refused = decode_group_message(base::ConstByteSpan(bytes).first(length));
      ASSERT_FALSE(refused) << length;
      EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
    }
    bytes.emplace_back();
    EXPECT_FALSE(decode_group_message(bytes));
  }
}

TEST(GroupMessage, NumbersOutOfRangeAreRefused) {
  const auto refused = [](const GroupMessage& message) { return !decode_group_message(encode(message)); };
  auto message = sample_messages()[0];
  auto& announce = std::get<Announce>(message.body);
  EXPECT_FALSE(refused(message));
  announce.members = 65;
  EXPECT_TRUE(refused(message));
  announce.members = 0;
  EXPECT_TRUE(refused(message));
  announce.members = 4;
  announce.ranks = 0;
  EXPECT_TRUE(refused(message));
  announce.ranks = 3;
  announce.pieces.push_back(announce.pieces[0]);
  EXPECT_TRUE(refused(message)) << "a rank twice";
  auto offer = sample_messages()[1];
  std::get<Offer>(offer.body).blocks[0].place.memory.resize(4096);
  EXPECT_FALSE(refused(offer));
  std::get<Offer>(offer.body).blocks[0].place.memory.resize(4097);
  EXPECT_TRUE(refused(offer));
  offer = sample_messages()[1];
  offer.position = 65;
  EXPECT_TRUE(refused(offer));
  offer.position = 1;
  offer.id.version.name = "../x";
  EXPECT_TRUE(refused(offer));
}

}  // namespace
}  // namespace perdure::engine
