// Tests that records survive as CBOR maps, and that anything else is refused.
#include <gtest/gtest.h>

#include <random>

#include "base/json.hpp"
#include "catalog/record_encoder.hpp"
#include "support/damaged_fields.hpp"
#include "support/sample_records.hpp"
#include "support/sanitized.hpp"

namespace perdure::catalog {
namespace {

using base::Json;

Json decoded(const Record& record) { return base::decode_cbor(base::encode_cbor(to_json(record)), "test").value(); }

void expect_refused(const Json& json, const std::string& word) {
  auto record = record_from_json(json, "log");
  ASSERT_FALSE(record) << json;
  EXPECT_EQ(record.error().code, PERDURE_CORRUPT) << json;
  EXPECT_NE(record.error().text().find(word), std::string::npos) << record.error().text() << " for " << json;
}

TEST(RecordCodec, EveryKindOfRecordRoundTripsThroughCbor) {
  for (const Record& record : test_support::sample_records()) {
    auto again = record_from_json(decoded(record), "log");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->index(), record.index());
    EXPECT_EQ(to_json(*again), to_json(record));
  }
}

std::vector<std::byte> as_tree(const Record& record) { return base::encode_cbor(to_json(record)); }

TEST(RecordCodec, WhatIsWrittenWithoutATreeIsWhatTheTreeWouldBe) {
  for (const Record& record : test_support::sample_records()) EXPECT_EQ(encode_payload(record), as_tree(record));
  std::mt19937_64 random(17);
  for (int i = 0; i < test_support::unless_sanitized(300, 30); ++i) {
    const auto number = [&] { return random() >> random() % 64; };
    segment::VersionId id{std::string(1 + random() % 255, 'a'), number(), {number(), number()}};
    auto stage = test_support::sample_stage(id, static_cast<std::uint32_t>(number()), 0xffffffff, 0, random() % 200000);
    for (auto& chunk : stage.piece.chunks) chunk.offset = number();
    if (i % 2 == 0) stage.piece = test_support::attributed_piece(std::move(stage.piece));
    EXPECT_EQ(encode_payload(stage), as_tree(stage));
    for (auto nodes = 1 + random() % 40; nodes > 0; --nodes) stage.nodes.push_back(number());
    EXPECT_EQ(encode_payload(stage), as_tree(stage));
    std::vector<LocalSegment> segments(random() % 40);
    for (auto& segment : segments) {
      segment = {static_cast<std::uint32_t>(number()), static_cast<std::uint32_t>(number()), {}, random() % 2 == 0};
      for (auto rank = random() % 300; rank > 0; --rank) segment.ranks.push_back(static_cast<std::uint32_t>(number()));
    }
    for (const Record& record :
         {Record(CommitRecord{id, segments}), Record(BegunRecord{id, segments}),
          Record(StoredRecord{id, static_cast<std::uint32_t>(number())}), Record(DropRecord{id})})
      EXPECT_EQ(encode_payload(record), as_tree(record));
  }
}

TEST(RecordCodec, AFieldThatIsMissingOrOfAnotherTypeIsRefusedByName) {
  for (const Record& record : test_support::sample_records())
    test_support::for_each_damaged_field(decoded(record), [](const Json& damaged, const std::string& key, bool nested) {
      expect_refused(damaged, nested ? "" : "'" + key + "'");
    });
}

// Old logs have none.
TEST(RecordCodec, ATierSaysWhereItIsIfThatIsKnown) {
  const TierRecord tier{3, "file", 42, {"/tmp/slots", 6, 200, 7}};
  const auto again = record_from_json(decoded(tier), "log");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(std::get<TierRecord>(*again), tier);
  EXPECT_FALSE(to_json(TierRecord{3, "file", 42}).contains("place"));
  test_support::for_each_damaged_field(to_json(tier)["place"], [&](const Json& damaged, const std::string& key, bool) {
    Json record = to_json(tier);
    record["place"] = damaged;
    expect_refused(record, "'" + key + "'");
  });
  Json record = to_json(tier);
  record["place"] = "/tmp/slots";
  expect_refused(record, "'place'");
}

// Old logs have none, nor have a node's other pieces.
TEST(RecordCodec, APieceSaysOnWhichNodesItWasCapturedInEightBytesEach) {
  const auto bare = test_support::sample_stage(test_support::sample_id(1), 0, 1);
  EXPECT_FALSE(to_json(bare).contains("nodes"));
  std::vector<std::uint64_t> nodes;
  for (std::uint64_t n = 0; n < 4096; ++n) nodes.push_back(n << 32 | (0xfedcba98 - n));
  const auto stage = test_support::captured_on(bare, nodes);
  const auto again = record_from_json(decoded(stage), "log");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(std::get<StageRecord>(*again).nodes, nodes);
  EXPECT_LT(encode_record(stage).size(), encode_record(bare).size() + 4096 * 8 + 16);
  Json json = to_json(bare);
  for (const Json& wrong : {Json("nodes"), Json(7), Json::array({7}), Json::binary({1, 2, 3, 4, 5, 6, 7})}) {
    json["nodes"] = wrong;
    expect_refused(json, "'nodes'");
  }
}

TEST(RecordCodec, NumbersOutOfRangeAreRefused) {
  const auto id = test_support::sample_id(1);
  const std::uint64_t giant = 1ULL << 32;
  Json tier = to_json(TierRecord{0, "memory", 1});
  tier["tier"] = giant;
  expect_refused(tier, "'tier'");
  Json stage = to_json(test_support::sample_stage(id, 0, 1));
  stage["ranks"] = giant;
  expect_refused(stage, "'ranks'");
  stage["ranks"] = 0U;
  expect_refused(stage, "rank");
  Json commit = to_json(CommitRecord{id, {{0, 1, {0}, false}}});
  commit["segments"][0]["count"] = 0U;
  expect_refused(commit, "index");
  commit["segments"][0]["count"] = giant;
  expect_refused(commit, "'count'");
  commit["segments"][0]["count"] = 1U;
  commit["segments"][0]["ranks"][0] = giant;
  expect_refused(commit, "rank");
  Json quarantine = to_json(QuarantineRecord{id, 0, 0, "why"});
  quarantine["chunk"] = giant;
  expect_refused(quarantine, "'chunk'");
}

TEST(RecordCodec, AMovedChunkIsItsNumberAndItsOffset) {
  Json json = to_json(SpilledRecord{test_support::sample_id(1), 0, {{0, 4096}}});
  ASSERT_TRUE(record_from_json(json, "log"));
  const Json wrong[] = {5U, Json::array({1U, 2U, 3U}), Json::array({-1, 2U}), Json::array({1U, -2}),
                        Json::array({1ULL << 32, 2U})};
  for (const Json& chunk : wrong) {
    json["chunks"][0] = chunk;
    expect_refused(json, "moved chunk");
  }
}

TEST(RecordCodec, RedundancyThatContradictsItselfIsRefused) {
  const Json good = to_json(RedundancyRecord{test_support::sample_redundancy_set(test_support::sample_id(1), 5)});
  ASSERT_TRUE(record_from_json(good, "log"));
  Json json = good;
  json["position"] = 3U;
  expect_refused(json, "position");
  json = good;
  json["parities"] = 3U;
  expect_refused(json, "parities");
  json = good;
  json["ranks"] = 2U;  // it has three pieces
  expect_refused(json, "ranks");
  json = good;
  json["members"][2] = json["members"][1];
  expect_refused(json, "two positions");
  json = good;
  json["members"] = Json::array();
  expect_refused(json, "members");
  json = good;
  json["kept"].push_back(json["kept"][0]);
  expect_refused(json, "twice");
  json = good;
  json["kept"][0][0][1] = 64U;
  expect_refused(json, "block");
}

TEST(RecordCodec, MoreIsNotKeptThanCanBeSpokenOf) {
  SupersededRecord record{"nbody", 1000, {}};
  for (std::uint64_t ns = 1; ns <= SupersededRecord::kMostKept; ++ns) record.keep.insert(ns);
  EXPECT_TRUE(record_from_json(to_json(record), "log"));
  record.keep.insert(500);
  expect_refused(to_json(record), "'keep'");
  Json bad = to_json(SupersededRecord{"nbody", 1000, {7}});
  bad["keep"][0] = "7";
  expect_refused(bad, "'keep'");
  bad = to_json(SupersededRecord{"../x", 1000, {}});
  expect_refused(bad, "'name'");
}

TEST(RecordCodec, AnUnknownKindOfRecordIsRefused) {
  expect_refused({{"record", "surprise"}}, "surprise");
  expect_refused(Json::object(), "'record'");
  for (const Json& json : {Json(nullptr), Json(3), Json("tier"), Json::array({1, 2})}) expect_refused(json, "'record'");
}

TEST(RecordCodec, ANameThatCouldLeaveTheStoreIsRefused) {
  Json drop = to_json(DropRecord{test_support::sample_id(1)});
  for (const char* name : {"", "../x", "a/b", ".hidden"}) {
    drop["id"]["name"] = name;
    expect_refused(drop, "'name'");
  }
}

}  // namespace
}  // namespace perdure::catalog
