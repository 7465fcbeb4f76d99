#include "ipc/address_codec.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "support/damaged_fields.hpp"
#include "support/sample_requests.hpp"

namespace perdure::ipc {
namespace {

using base::Json;

const Json kGood = base::decode_cbor(base::encode_cbor(to_json(test_support::sample_address())), "test").value();

TEST(AddressCodec, AnAddressRoundTripsThroughCbor) {
  const auto a = address_from_json(kGood).value();
  const auto b = test_support::sample_address();
  EXPECT_EQ(a.tier, b.tier);
  EXPECT_EQ(a.slot, b.slot);
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.capacity, b.capacity);
  EXPECT_EQ(a.mapped, b.mapped);
}

TEST(AddressCodec, AFieldThatIsMissingOrOfAnotherTypeIsRefusedByName) {
  test_support::for_each_damaged_field(kGood, [](const Json& damaged, const std::string& key, bool) {
    auto address = address_from_json(damaged);
    ASSERT_FALSE(address) << damaged;
    EXPECT_EQ(address.error().code, PERDURE_CORRUPT);
    EXPECT_NE(address.error().text().find("'" + key + "'"), std::string::npos) << address.error().text();
  });
}

TEST(AddressCodec, ATierThatCannotBeAndThingsThatAreNoMapAreRefused) {
  Json json = kGood;
  json["tier"] = 0x10000U;
  EXPECT_FALSE(address_from_json(json));
  for (const Json& other : {Json(), Json(3), Json("slot"), Json::array()}) EXPECT_FALSE(address_from_json(other));
}

}  // namespace
}  // namespace perdure::ipc
