#include "calibration/model_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "calibration/calibration_testing.hpp"

namespace perdure::calibration {
namespace {

using base::Json;
using testing::HasSubstr;

Json sample() { return Json::parse(encode(sample_calibration())); }

std::string refusal(const std::string& text, base::ErrorCode code = PERDURE_CORRUPT) {
  const auto decoded = decode(text, "memory.json");
  if (decoded) return "accepted";
  EXPECT_EQ(decoded.error().code, code) << decoded.error().text();
  EXPECT_EQ(decoded.error().object, "memory.json");
  EXPECT_THAT(decoded.error().remedy, HasSubstr("perdure calibrate"));
  return decoded.error().cause;
}

template <class Change>
std::string changed(Change change) {
  Json json = sample();
  change(json);
  return refusal(json.dump());
}

TEST(ModelFile, ComesBackAsItWas) {
  const Calibration before = sample_calibration();
  const auto after = decode(encode(before), "memory.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(encode(*after), encode(before));
  EXPECT_EQ(after->device.device_id, before.device.device_id);
  EXPECT_EQ(after->fresh.size(), before.fresh.size());
  EXPECT_DOUBLE_EQ(model_of(*after)->bytes_per_s(11), before.recycled[1].bytes_per_s);
}

TEST(ModelFile, RefusesWhatIsNoModel) {
  for (const char* text : {"", "{", "[]", "null", "3", "\"text\"", "\xff\xfe", "{}garbage"})
    EXPECT_THAT(refusal(text), HasSubstr("no JSON object")) << text;
  EXPECT_THAT(refusal("{}"), HasSubstr("does not say its format"));
  EXPECT_THAT(refusal(std::string(1U << 20U, '[')), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(std::string((1U << 20U) + 1, ' ')), HasSubstr("larger than 1 MiB"));
}

TEST(ModelFile, RefusesEveryFieldThatIsMissingOrOfAnotherType) {
  for (const char* key :
       {"tier", "machine", "device", "created_ns", "chunk_bytes", "max_writers", "repetitions", "recycled", "fresh"}) {
    EXPECT_NE(changed([&](Json& json) { json.erase(key); }), "accepted") << key;
    EXPECT_NE(changed([&](Json& json) { json[key] = true; }), "accepted") << key;
    EXPECT_NE(changed([&](Json& json) { json[key] = nullptr; }), "accepted") << key;
  }
  const Json whole = sample();
  for (const char* part : {"machine", "device"})
    for (const auto& [key, value] : whole[part].items())
      EXPECT_NE(changed([&, name = key](Json& json) { json[part][name] = Json::array(); }), "accepted") << key;
}

TEST(ModelFile, RefusesFiguresOfNonsense) {
  EXPECT_THAT(changed([](Json& j) { j["max_writers"] = 0; }), HasSubstr("max_writers is out of range"));
  EXPECT_THAT(changed([](Json& j) { j["max_writers"] = 1ULL << 40U; }), HasSubstr("out of range"));
  EXPECT_THAT(changed([](Json& j) { j["max_writers"] = 11; }), HasSubstr("beyond the range"));
  EXPECT_THAT(changed([](Json& j) { j["recycled"].erase(5), j["recycled"].erase(4); }),
              HasSubstr("at least 5 samples"));
  EXPECT_THAT(changed([](Json& j) { j["recycled"] = Json::array(); }), HasSubstr("at least 5 samples"));
  EXPECT_THAT(changed([](Json& j) { j["recycled"][2]["writers"] = 1; }), HasSubstr("not in ascending order"));
  EXPECT_THAT(changed([](Json& j) { j["recycled"][2] = 7; }), HasSubstr("no bytes_per_s"));
  EXPECT_THAT(changed([](Json& j) { j["tier"] = std::string(5000, 'x'); }), HasSubstr("longer than"));
  for (const Json& bad : {Json(0), Json(-1e9), Json(1e300), Json("fast"), Json(nullptr)})
    EXPECT_NE(changed([&](Json& j) { j["recycled"][2]["bytes_per_s"] = bad; }), "accepted") << bad;
}

TEST(ModelFile, SaysThatItIsOfANewerPerdure) {
  Json json = sample();
  json["format"] = 2;
  EXPECT_THAT(refusal(json.dump(), PERDURE_UNSUPPORTED), HasSubstr("newer Perdure (format 2)"));
}

}  // namespace
}  // namespace perdure::calibration
