// Messages between the engines of a group: what is written is read again, and nothing else is believed.
#include "engine/group_message.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "support/damaged_fields.hpp"
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
          {{id, 5}, 1, GivesUp{"its disk is full"}}};
}

base::Json decoded(const GroupMessage& message) { return base::decode_cbor(encode(message), "test").value(); }

TEST(GroupMessage, EveryKindRoundTrips) {
  for (const auto& message : sample_messages()) {
    const auto again = decode_group_message(encode(message));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(decoded(*again), decoded(message));
    EXPECT_EQ(again->body.index(), message.body.index());
  }
}

TEST(GroupMessage, AReasonIsReadAgainAndCutWhereItIsTooLong) {
  const auto why = [](const GroupMessage& message) {
    const auto again = decode_group_message(encode(message));
    return again && std::holds_alternative<GivesUp>(again->body) ? std::get<GivesUp>(again->body).why : "";
  };
  EXPECT_EQ(why(sample_messages()[4]), "its disk is full");
  const GroupMessage wordy{sample_messages()[4].id, 1, GivesUp{std::string(5000, 'x')}};
  EXPECT_EQ(why(wordy), std::string(1000, 'x'));
  EXPECT_EQ(decoded(wordy)["why"], std::string(1000, 'x'));
  auto sent = decoded(sample_messages()[4]);  // by somebody who cuts nothing
  sent["why"] = std::string(5000, 'x');
  const auto heard = decode_group_message(base::encode_cbor(sent));
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(std::get<GivesUp>(heard->body).why.size(), 1000U);
}

TEST(GroupMessage, AFieldThatIsMissingOrOfAnotherTypeIsRefused) {
  for (const auto& message : sample_messages())
    test_support::for_each_damaged_field(decoded(message), [](const base::Json& damaged, const std::string&, bool) {
      const auto refused = decode_group_message(base::encode_cbor(damaged));
      ASSERT_FALSE(refused) << damaged;
      EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
    });
}

TEST(GroupMessage, NumbersOutOfRangeAreRefused) {
  const auto refused = [](const base::Json& json) { return !decode_group_message(base::encode_cbor(json)); };
  auto announce = decoded(sample_messages()[0]), offer = decoded(sample_messages()[1]);
  announce["members"] = 65U;
  EXPECT_TRUE(refused(announce));
  announce["members"] = 0U;
  EXPECT_TRUE(refused(announce));
  announce["members"] = 4U;
  announce["ranks"] = 0U;
  EXPECT_TRUE(refused(announce));
  auto damaged = offer;
  damaged["blocks"][0][1] = base::Json::binary({1, 2, 3});
  EXPECT_TRUE(refused(damaged));
  damaged = offer;
  damaged["blocks"][0][2] = base::Json::binary(std::vector<std::uint8_t>(4097));
  EXPECT_TRUE(refused(damaged));
  damaged = offer;
  damaged["position"] = 65U;
  EXPECT_TRUE(refused(damaged));
}

}  // namespace
}  // namespace perdure::engine
