// Tests that families survive the message, and that malformed messages are refused.
#include "metrics/family_codec.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace perdure::metrics {
namespace {

using base::Json;

std::vector<Family> sample() {
  return {{"a_total", Kind::counter, "First", {{{}, 3, {}}, {{{"tier", "file"}}, 0.5, {}}}},
          {"b", Kind::gauge, "Second", {{{{"x", "1"}, {"y", "2"}}, -1, {}}}},
          {"c", Kind::histogram, "Third", {{{}, 0, Distribution{{0.1, 1}, {1, 0, 7}, 12.5}}}},
          {"d", Kind::gauge, "Fourth", {}}};
}

Json through_cbor(const Json& json) { return base::decode_cbor(base::encode_cbor(json), "test").value(); }

void expect_refused(const Json& json) {
  const auto read = families_from_json(json, "engine");
  ASSERT_FALSE(read) << json;
  EXPECT_EQ(read.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(read.error().object, "engine");
}

TEST(FamilyCodec, RoundTripsThroughCbor) {
  const auto again = families_from_json(through_cbor(to_json(sample())), "engine");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, sample());
}

TEST(FamilyCodec, RefusesWhatIsMissingOrOfAnotherType) {
  const Json good = to_json(sample());
  expect_refused(Json::object());
  expect_refused(Json::array({1}));
  for (std::size_t f = 0; f < good.size(); ++f)
    for (const auto& [key, value] : good[f].items()) {
      Json without = good, other = good;
      without[f].erase(key);
      expect_refused(without);
      other[f][key] = Json::object();
      expect_refused(other);
    }
  for (std::size_t f = 0; f < 3; ++f)
    for (const auto& [key, value] : good[f]["samples"][0].items()) {
      Json without = good, other = good;
      without[f]["samples"][0].erase(key);
      expect_refused(without);
      other[f]["samples"][0][key] = "text";
      expect_refused(other);
    }
}

TEST(FamilyCodec, RefusesWhatCouldNotBeExported) {
  Json json = to_json(sample());
  json[0]["name"] = "not a name";
  expect_refused(json);
  json = to_json(sample());
  json[2]["samples"][0]["counts"].push_back(1U);
  expect_refused(json);
  json = to_json(sample());
  json[2]["samples"][0]["counts"][0] = -1;
  expect_refused(json);
  json = to_json(sample());
  json[0]["samples"][1]["labels"]["tier"] = 3;
  expect_refused(json);
  json = to_json(sample());
  json.push_back(json[1]);
  expect_refused(json);
}

TEST(FamilyCodec, RefusesMoreThanAnEngineEverHas) {
  Json json = to_json(sample());
  json[0]["samples"] = Json(std::vector<Json>(100'001, json[0]["samples"][0]));
  expect_refused(json);
  expect_refused(Json(std::vector<Json>(1001, json[1])));
}

}  // namespace
}  // namespace perdure::metrics
