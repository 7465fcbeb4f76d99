// What ranks and engines say: everything round-trips, and nothing malformed is acted on.
#include "ipc/messages.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "support/damaged_fields.hpp"
#include "support/sample_requests.hpp"

namespace perdure::ipc {
namespace {

using base::Json;
using test_support::sample_requests;

Json through_cbor(const Json& json) { return base::decode_cbor(base::encode_cbor(json), "test").value(); }

Json message_of(const char* op) {
  for (const Request& request : sample_requests())
    if (Json json = to_json(request); json["op"] == op) return through_cbor(json);
  ADD_FAILURE() << op;
  return {};
}

void expect_refused(const Json& json, const std::string& word) {
  auto request = request_from_json(json);
  ASSERT_FALSE(request) << json;
  EXPECT_NE(request.error().text().find(word), std::string::npos) << request.error().text() << " for " << json;
}

TEST(Messages, TheSamplesHaveOneOfEveryRequest) {
  std::vector<bool> seen(std::variant_size_v<Request>);
  for (const Request& request : sample_requests()) seen[request.index()] = true;
  EXPECT_EQ(seen, std::vector<bool>(seen.size(), true));
}

TEST(Messages, EveryRequestRoundTripsThroughCbor) {
  for (const Request& request : sample_requests()) {
    auto again = request_from_json(through_cbor(to_json(request)));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->index(), request.index());
    EXPECT_EQ(to_json(*again), to_json(request));
  }
}

TEST(Messages, AFieldThatIsMissingOrOfAnotherTypeIsRefusedByName) {
  for (const Request& request : sample_requests())
    test_support::for_each_damaged_field(through_cbor(to_json(request)),
                                         [](const Json& damaged, const std::string& key, bool nested) {
                                           expect_refused(damaged, nested ? "" : "'" + key + "'");
                                         });
}

TEST(Messages, NumbersOutOfRangeAreRefusedByName) {
  const std::uint64_t giant = 1ULL << 32;
  for (const char* op : {"hello", "locate", "quarantine"}) {
    Json json = message_of(op);
    json["rank"] = giant;
    expect_refused(json, "'rank'");
  }
  Json json = message_of("quarantine");
  json["chunk"] = giant;
  expect_refused(json, "'chunk'");
  json = message_of("stage");
  json["ranks"] = giant;
  expect_refused(json, "'ranks'");
  json = message_of("commit");
  json["segments"][0]["index"] = giant;
  expect_refused(json, "'index'");
  json = message_of("commit");
  json["segments"][0]["ranks"][0] = giant;
  expect_refused(json, "'ranks'");
  json = message_of("grant");
  json["id"]["version"] = 1ULL << 63;
  expect_refused(json, "'version'");
}

TEST(Messages, WhatDoesNotFitTogetherIsRefused) {
  Json json = message_of("stage");
  json["ranks"] = 3U;  // the piece is rank 3's
  expect_refused(json, "rank");
  json = message_of("stage");
  json["piece"]["chunks"].erase(0);
  expect_refused(json, "chunks");
  json = message_of("commit");
  json["segments"][1]["index"] = 2U;
  expect_refused(json, "index");
  json = message_of("commit");
  json["segments"][0] = "all of them";
  expect_refused(json, "'index'");
  json = message_of("reserve");
  json["chunk_bytes"][1] = -1;
  expect_refused(json, "'chunk_bytes'");
}

TEST(Messages, ANameThatCouldLeaveTheStoreIsRefused) {
  for (const char* name : {"", "../x", "a/b", ".hidden"}) {
    Json json = message_of("retire");
    json["name"] = name;
    expect_refused(json, "name");
    json = message_of("grant");
    json["id"]["name"] = name;
    expect_refused(json, "'name'");
  }
}

TEST(Messages, UnknownOperationsAndOtherThingsAreRefused) {
  expect_refused({{"op", "surprise"}}, "surprise");
  for (const Json& json : {Json(), Json(1), Json("hello"), Json::array({"op", "hello"}), Json::object()})
    expect_refused(json, "'op'");
  const Json long_name = {{"op", std::string(100'000, 'x')}};
  EXPECT_LT(request_from_json(long_name).error().text().size(), 200U) << "a message does not repeat what it was sent";
}

TEST(Messages, ASummaryRoundTripsAndIsChecked) {
  const Json good = through_cbor(to_json(test_support::sample_summary()));
  auto again = summary_from_json(good);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(test_support::sample_summary()));
  test_support::for_each_damaged_field(good, [](const Json& damaged, const std::string& key, bool nested) {
    auto refused = summary_from_json(damaged);
    ASSERT_FALSE(refused) << damaged;
    const std::string word = nested ? "" : "'" + key + "'";
    EXPECT_NE(refused.error().text().find(word), std::string::npos) << refused.error().text();
  });
}

TEST(Messages, AnErrorComesBackAsItWasSent) {
  const base::Error error{PERDURE_NO_SPACE, "tier memory", "it is full", "make room", true};
  auto reply = check_reply(through_cbor(error_reply(error)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, error.code);
  EXPECT_EQ(reply.error().text(), error.text());
  EXPECT_TRUE(reply.error().retryable);
}

TEST(Messages, AGoodReplyIsHandedThrough) {
  const Json good = {{"ok", true}, {"seq", 4U}, {"chunk_bytes", 4096U}};
  EXPECT_EQ(check_reply(good).value(), good);
}

TEST(Messages, AReplyThatIsNoneOrHasAMalformedErrorIsAnError) {
  EXPECT_FALSE(check_reply(Json(7)));
  EXPECT_FALSE(check_reply({{"error", "no"}}));
  const Json good = through_cbor(error_reply({PERDURE_IO, "a", "b", "c", false}));
  test_support::for_each_damaged_field(good["error"], [&](const Json& damaged, const std::string&, bool) {
    auto reply = check_reply({{"error", damaged}});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, PERDURE_CORRUPT) << damaged;
  });
}

TEST(Messages, AnErrorCodeOfALaterReleaseIsStillAnError) {
  Json json = error_reply({PERDURE_IO, "a", "b", "c", false});
  for (std::uint64_t code : {std::uint64_t{0}, std::uint64_t{12345}, ~std::uint64_t{0}}) {
    json["error"]["code"] = code;
    auto reply = check_reply(json);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, PERDURE_INTERNAL);
  }
}

}  // namespace
}  // namespace perdure::ipc
