#include "segment/manifest_codec.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "segment/entry_codec.hpp"
#include "segment/manifest_decoder.hpp"
#include "support/manifest_json.hpp"
#include "support/sample_segment.hpp"

namespace perdure::segment {
namespace {

using base::Json;

const VersionId kId{"nbody", 7, {1700000000123456789, 42}};

Manifest sample() { return test_support::sample_manifest(kId, 4, 1, 2, {2, 3}, 10000, 4096); }

Json good() { return to_json(sample()); }

base::Result<Manifest> manifest_from_json(const Json& json, const std::string& object) {
  const auto cbor = base::encode_cbor(json);
  base::CborReader in(cbor, base::kMaxCborItems);
  return take_manifest(in, object);
}

/// Decodes `json` and returns the text of the refusal.
std::string refusal(const Json& json) {
  auto result = manifest_from_json(json, "file.pds");
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(result.error().object.substr(0, 8), "file.pds");
  return result.error().cause;
}

TEST(ManifestCodec, ReturnsWhatWasEncoded) {
  const Manifest manifest = sample();
  auto bytes = base::encode_cbor(to_json(manifest));
  auto json = base::decode_cbor(bytes, "file.pds");
  ASSERT_TRUE(json);
  auto decoded = manifest_from_json(*json, "file.pds");
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(*decoded, manifest);
}

TEST(ManifestCodec, ReturnsAnEmptyCaptureAndAnEmptySegment) {
  Manifest manifest = sample();
  manifest.pieces = {Piece{3, 4096, {}, {}}};
  EXPECT_EQ(manifest_from_json(to_json(manifest), "x").value(), manifest);
  manifest.pieces.clear();
  EXPECT_EQ(manifest_from_json(to_json(manifest), "x").value(), manifest);
}

TEST(ManifestCodec, ReturnsPiecesAttemptsAndIdsByThemselves) {
  const Manifest manifest = sample();
  EXPECT_EQ(piece_from_json(to_json(manifest.pieces[1]), "x").value(), manifest.pieces[1]);
  EXPECT_EQ(attempt_from_json(to_json(kId.attempt), "x").value(), kId.attempt);
  EXPECT_EQ(version_id_from_json(to_json(kId), "x").value(), kId);
}

/// Counts items as readers do.
std::uint64_t items(const Json& json) {
  std::uint64_t count = 1;
  for (const auto& item : json.items())
    if (json.is_structured()) count += (json.is_object() ? 1 : 0) + items(item.value());
  return count;
}

TEST(ManifestCodec, CountsItsItemsAsReadersDo) {
  const VersionId id{"nbody", 1, {1, 2}};
  for (const std::uint64_t bytes : {0U, 5000U, 50'000U}) {
    const auto plain = test_support::sample_piece(id, 3, bytes, 4096);
    EXPECT_EQ(items_of(plain), items(to_json(plain)));
    const auto attributed = test_support::attributed_piece(plain);
    EXPECT_EQ(items_of(attributed), items(to_json(attributed)));
  }
  const Manifest empty{id, 3, 0, 1, "perdure test", {}};
  EXPECT_LE(items(to_json(empty)), kMostItemsBesidePieces);
}

TEST(ManifestCodec, ReturnsTheLargestNumbersThatThereMayBe) {
  Json json = good();
  json["ranks"] = 2147483647U;
  json["segment"] = Json::array({2147483646U, 2147483647U});
  json["version"] = 9223372036854775807U;
  json["pieces"][1]["rank"] = 2147483646U;
  const auto decoded = manifest_from_json(json, "x");
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->segment_count, 2147483647U);
  json["segment"] = Json::array({0U, 2147483648U});
  EXPECT_NE(refusal(json).find("field 'segment'"), std::string::npos) << refusal(json);
}

TEST(ManifestCodec, IgnoresKeysItDoesNotKnow) {
  Json json = good();
  json["comment"] = "added later";
  json["pieces"][0]["shape"] = Json::array({100, 100});
  EXPECT_EQ(manifest_from_json(json, "x").value(), sample());
}

TEST(ManifestCodec, WritesPlainMemoryAsFormat1Did) {
  const Json json = good();
  for (const Json& piece : json["pieces"])
    for (const Json& region : piece["regions"]) EXPECT_EQ(region.size(), 3U) << region.dump();
}

TEST(ManifestCodec, ReturnsKindsAndAttributesAlsoThoseThatNobodyKnows) {
  const Piece piece = test_support::attributed_piece(sample().pieces[0]);
  const auto bytes = base::encode_cbor(to_json(piece));
  const auto json = base::decode_cbor(bytes, "x");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["regions"][1].size(), 5U);
  const auto decoded = piece_from_json(*json, "x");
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(*decoded, piece);
  EXPECT_EQ(base::encode_cbor(to_json(*decoded)), bytes);
}

TEST(ManifestCodec, RefusesAKindItDoesNotKnowByEntryAndKind) {
  Json json = good();
  json["pieces"][0]["regions"][1] = Json::array({7U, 1U, 6667U, 9U, Json::object()});
  const auto refused = manifest_from_json(json, "file.pds");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED) << "it is not damaged: nothing may set it aside";
  EXPECT_EQ(refused.error().object, "file.pds: rank 2");
  EXPECT_EQ(refused.error().cause,
            "field 'regions': region number 1 (id 7) is of kind 9, which this Perdure does not know (it knows kinds up "
            "to 2)");
}

TEST(ManifestCodec, WhatMayBeWrittenIsWhatIsRead) {
  RegionEntry entry{1, 1, 10};
  entry.kind = EntryKind::opaque;
  const auto accepted = [&] {
    Piece piece{0, 4096, {entry}, {{0, 10, {}, 0}}};
    const bool read = piece_from_json(to_json(piece), "x").has_value();
    EXPECT_EQ(check_attributes(entry).has_value(), read);
    return read;
  };
  EXPECT_TRUE(accepted());
  entry.attributes = {{std::string(64, 'k'), std::string(4096, 't')}};
  EXPECT_TRUE(accepted());
  for (const Attributes& refused :
       {Attributes{{std::string(65, 'k'), true}}, Attributes{{"", true}}, Attributes{{"Shape", true}},
        Attributes{{"a b", true}}, Attributes{{"t", std::string(4097, 't')}},
        Attributes{{"b", std::vector<std::byte>(4097)}}, Attributes{{"n", std::vector<std::int64_t>(1025)}}}) {
    entry.attributes = refused;
    EXPECT_FALSE(accepted()) << refused.begin()->first;
  }
  entry.attributes.clear();
  for (int i = 0; i < 64; ++i) entry.attributes["k" + std::to_string(i)] = std::int64_t{i};
  EXPECT_TRUE(accepted());
  entry.attributes["one-more"] = true;
  EXPECT_FALSE(accepted());
}

TEST(ManifestCodec, RefusesEveryMissingField) {
  for (const char* key : {"name", "version", "attempt", "ranks", "segment", "writer", "pieces"}) {
    Json json = good();
    json.erase(key);
    EXPECT_NE(refusal(json).find(std::string("field '") + key + "' is missing"), std::string::npos) << refusal(json);
  }
  for (const char* key : {"rank", "chunk_bytes", "regions", "chunks"}) {
    Json json = good();
    json["pieces"][0].erase(key);
    EXPECT_NE(refusal(json).find(std::string("field '") + key + "' is missing"), std::string::npos) << refusal(json);
  }
}

TEST(ManifestCodec, RefusesEveryFieldOfAnotherType) {
  const std::vector<Json> others = {Json(), Json(-1), Json(1.5), Json(true), Json::object(), Json::array({Json("x")})};
  for (const Json& other : others) {
    for (const char* key : {"name", "version", "attempt", "ranks", "segment", "writer", "pieces"}) {
      Json json = good();
      json[key] = other;
      EXPECT_NE(refusal(json), "accepted") << key << " " << other.dump();
    }
    for (const char* key : {"rank", "chunk_bytes", "regions", "chunks"}) {
      Json json = good();
      json["pieces"][1][key] = other;
      EXPECT_NE(refusal(json), "accepted") << key << " " << other.dump();
    }
    EXPECT_NE(refusal(other), "accepted");
    EXPECT_FALSE(attempt_from_json(other, "x"));
    EXPECT_FALSE(piece_from_json(other, "x"));
    EXPECT_FALSE(version_id_from_json(other, "x"));
  }
}

struct CorruptField {
  const char* pointer;  ///< JSON pointer of the replaced value
  Json value;
  const char* message;
};

void PrintTo(const CorruptField& field, std::ostream* out) { *out << field.pointer << " = " << field.value.dump(); }

class CorruptManifest : public testing::TestWithParam<CorruptField> {};

TEST_P(CorruptManifest, IsRefusedWithTheReason) {
  Json json = good();
  json[Json::json_pointer(GetParam().pointer)] = GetParam().value;
  EXPECT_NE(refusal(json).find(GetParam().message), std::string::npos) << refusal(json);
}

const std::uint64_t kHuge = 0xFFFFFFFFFFFFFFFF;
const Json kHash = Json::binary(std::vector<std::uint8_t>(16));

INSTANTIATE_TEST_SUITE_P(
    Fields, CorruptManifest,
    testing::Values(
        CorruptField{"/name", "../evil", "field 'name' is not allowed"},
        CorruptField{"/name", std::string(10000, 'a'), "field 'name' is not allowed"},
        CorruptField{"/version", 1ULL << 63, "field 'version' is 9223372036854775808, outside"},
        CorruptField{"/attempt", Json::array({1U}), "field 'attempt' is missing or is not two unsigned numbers"},
        CorruptField{"/ranks", 0U, "field 'ranks' is 0, outside 1 to 2147483647"},
        CorruptField{"/ranks", 1ULL << 31, "field 'ranks' is 2147483648, outside"},
        CorruptField{"/ranks", 3U, "field 'rank' is 3, the version has 3 ranks"},
        CorruptField{"/segment", Json::array({2U, 2U}), "field 'segment': 2 of 2 is impossible"},
        CorruptField{"/segment", Json::array({0U, 0U}), "field 'segment': 0 of 0 is impossible"},
        CorruptField{"/segment", Json::array({0U, 1ULL << 40}), "is impossible"},
        CorruptField{"/writer", std::string(257, 'w'), "field 'writer' is not at most 256 printable"},
        CorruptField{"/writer", "\x1b[2J", "field 'writer' is not at most 256 printable"},
        CorruptField{"/pieces/1/rank", 2U, "field 'pieces': rank 2 follows rank 2, not ascending"},
        CorruptField{"/pieces/0/rank", 1ULL << 40, "field 'rank' is 1099511627776, outside"},
        CorruptField{"/pieces/0/chunk_bytes", 0U, "field 'chunk_bytes' is 0, outside"},
        CorruptField{"/pieces/0/chunk_bytes", kHuge, "field 'chunk_bytes' is 18446744073709551615, outside"},
        CorruptField{"/pieces/0/chunk_bytes", 4095U, "chunk 0 has length 4096, its share of the regions is 4095"},
        CorruptField{"/pieces/0/regions/1", Json::array({1U, 1U}), "region number 1 is not [id, element_bytes, count]"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U}), "is not [id, element_bytes, count]"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1ULL << 32, Json::object()}),
                     "(id 7) has a kind that is not a number below 2^32"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, "memory", Json::object()}),
                     "(id 7) has a kind that is not a number below 2^32"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U, Json::array()}),
                     "(id 7) has attributes that are not a map of at most 64"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U, Json{{"x", 1.5}}}),
                     "(id 7) has an attribute that is no truth value"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U, Json{{"x", kHuge}}}),
                     "(id 7) has an attribute that is no truth value"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U, Json{{"x", Json::array({"y"})}}}),
                     "(id 7) has an attribute that is no truth value"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 1U, Json{{"X", 1U}}}),
                     "(id 7) has an attribute whose name is not"},
        CorruptField{"/pieces/0/regions/1", Json::array({7U, 1U, 6667U, 0U, Json::object()}),
                     "(id 7) is plain memory, but not written so"},
        CorruptField{"/pieces/0/regions/1/0", 0U, "id 0 appears twice"},
        CorruptField{"/pieces/0/regions/1/0", 1ULL << 31, "id 2147483648 is not below 2^31"},
        CorruptField{"/pieces/0/regions/1/2", kHuge, "is not below 2^63"},
        CorruptField{"/pieces/0/regions/1/1", 1ULL << 62, "is not below 2^63"},
        CorruptField{"/pieces/0/regions/1/2", (1ULL << 63) - 1, "their sum is not below 2^63 bytes"},
        CorruptField{"/pieces/0/regions/1/2", (1ULL << 63) - 5000, "bytes of regions need 2251799813685248"},
        CorruptField{"/pieces/0/regions/1/2", 1U, "has 3 chunks"},
        CorruptField{"/pieces/0/chunks", Json::array(), "has 0 chunks, 10000 bytes of regions need 3"},
        CorruptField{"/pieces/0/chunks/1", Json::array({0U, 0U, kHash}),
                     "chunk 1 is not [offset, length, hash, place]"},
        CorruptField{"/pieces/0/chunks/1/0", "far", "chunk 1 is not [offset, length, hash, place]"},
        CorruptField{"/pieces/0/chunks/1/1", 1ULL << 63, "chunk 1 has length 9223372036854775808"},
        CorruptField{"/pieces/0/chunks/2/1", 1807U, "chunk 2 has length 1807, its share of the regions is 1808"},
        CorruptField{"/pieces/0/chunks/1/2", "text", "its hash is not a byte string of 16 bytes"},
        CorruptField{"/pieces/0/chunks/1/2", Json::binary({1, 2, 3}), "its hash is not a byte string of 16 bytes"},
        CorruptField{"/pieces/0/chunks/1/3", 1ULL << 32, "place 4294967296 is not below 2^32"}));

TEST(ManifestCodec, NamesTheRankOfADamagedPiece) {
  Json json = good();
  json["pieces"][1]["chunks"].erase(0);
  EXPECT_EQ(manifest_from_json(json, "file.pds").error().object, "file.pds: rank 3");
}

TEST(Attempt, SortsAsTextLikeItself) {
  const std::vector<Attempt> ascending = {{0, 5}, {1, 0}, {1, 9}, {16, 0}, {0xFFFFFFFFFFFFFFFF, 1}};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(ascending[i - 1], ascending[i]);
    EXPECT_LT(ascending[i - 1].hex(), ascending[i].hex());
  }
  EXPECT_EQ((Attempt{0x1234, 0xabcd}.hex()), "0000000000001234000000000000abcd");
}

TEST(CheckName, AcceptsWhatTheRuleSays) {
  for (const std::string& name :
       {std::string("a"), std::string("9lives"), std::string("A.b_c-1"), std::string(128, 'x')})
    EXPECT_TRUE(check_name(name)) << name;
}

TEST(CheckName, RefusesEverythingElse) {
  for (const std::string& name :
       {std::string(), std::string(129, 'x'), std::string(10000, 'x'), std::string("a/b"), std::string(".hidden"),
        std::string(".."), std::string("-rf"), std::string("_x"), std::string("a b"), std::string("a\0b", 3),
        std::string("a\n"), std::string("\xC3\xA4")}) {
    auto status = check_name(name);
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_NE(status.error().cause.find("1 to 128 of the characters"), std::string::npos);
    EXPECT_LT(status.error().text().size(), 400U);
  }
}

}  // namespace
}  // namespace perdure::segment
