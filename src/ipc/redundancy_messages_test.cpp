// What is said about other nodes: limits of its own, and what engines tell of redundancy.
#include "ipc/redundancy_messages.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "support/damaged_fields.hpp"
#include "support/sample_requests.hpp"

namespace perdure::ipc {
namespace {

using base::Json;
using Strings = std::vector<std::vector<std::byte>>;

Json redundancy_json(const Request& request) {
  return base::decode_cbor(base::encode_cbor(to_json(request)), "t").value();
}
Json kept_json() { return base::decode_cbor(base::encode_cbor(to_json(test_support::sample_kept())), "t").value(); }

void expect_request_refused(const Json& json, const std::string& words) {
  const auto request = request_from_json(json);
  ASSERT_FALSE(request) << words;
  EXPECT_EQ(request.error().code, PERDURE_CORRUPT);
  EXPECT_NE(request.error().text().find(words), std::string::npos) << request.error().text();
}

void expect_kept_refused(const Json& json, const std::string& words) {
  const auto kept = kept_from_json(json);
  ASSERT_FALSE(kept) << json;
  EXPECT_EQ(kept.error().code, PERDURE_CORRUPT);
  EXPECT_NE(kept.error().text().find(words), std::string::npos) << kept.error().text();
}

TEST(RedundancyMessages, APositionIsOneOfAtMost64Addresses) {
  Join join{1, 0, 63, Strings(64)};
  EXPECT_TRUE(request_from_json(redundancy_json(join)));
  join.position = 64;
  expect_request_refused(redundancy_json(join), "'position'");
  join.addresses.resize(65);
  expect_request_refused(redundancy_json(join), "'position'");
  expect_request_refused(redundancy_json(Join{1, 0, 0, {}}), "'position'");
}

TEST(RedundancyMessages, EveryNodeOfAGroupHasAName) {
  Join join{1, 0, 0, Strings(2), {}, {"host", std::string(1024, 'h')}};
  const auto parsed = request_from_json(redundancy_json(join));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(std::get<Join>(*parsed).nodes, join.nodes);
  join.nodes[1] += "h";
  expect_request_refused(redundancy_json(join), "'nodes' holds something that is no name");
  join.nodes.pop_back();
  expect_request_refused(redundancy_json(join), "'nodes' does not name as many");
  Json other = redundancy_json(Join{1, 0, 0, Strings(2)});
  other["nodes"] = {1, 2};
  expect_request_refused(other, "'nodes' holds something that is no name");
}

TEST(RedundancyMessages, ByteStringsAreNoLongerThanTheyMayBe) {
  Join join{1, 0, 0, {std::vector<std::byte>(4096)}};
  const auto longest = request_from_json(redundancy_json(join));
  ASSERT_TRUE(longest);
  EXPECT_EQ(std::get<Join>(*longest).addresses, join.addresses);
  join.addresses[0].emplace_back();
  expect_request_refused(redundancy_json(join), "'addresses': an address");
  expect_request_refused(redundancy_json(OpenNetwork{std::vector<std::byte>(65)}), "'job_key'");
}

TEST(RedundancyMessages, WhatIsNoByteStringInAListIsRefused) {
  Json join = redundancy_json(Join{1, 0, 0, Strings(2)}),
       recover = redundancy_json(Recover{{"app", 1, {1, 1}}, 1, {}, Strings(2)});
  join["addresses"][1] = "host:1";
  expect_request_refused(join, "'addresses': an address");
  recover["loans"][1] = 7U;
  expect_request_refused(recover, "'loans': a loan");
}

TEST(RedundancyMessages, WantedRanksAreOfTheVersion) {
  const segment::VersionId id{"app", 1, {1, 1}};
  EXPECT_TRUE(request_from_json(redundancy_json(Recover{id, 4, {0, 3}, {}})));
  expect_request_refused(redundancy_json(Recover{id, 4, {0, 4}, {}}), "'wanted'");
}

TEST(RedundancyMessages, ASummaryOfWhatIsKeptRoundTripsAndIsChecked) {
  const Json good = kept_json();
  const auto again = kept_from_json(good);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(test_support::sample_kept()));
  EXPECT_EQ(again->members, test_support::sample_kept().members);
  test_support::for_each_damaged_field(good, [](const Json& damaged, const std::string& key, bool nested) {
    expect_kept_refused(damaged, nested ? "" : "'" + key + "'");
  });
}

TEST(RedundancyMessages, MembersOfASummaryAreListsOfRanksWithTheirChunks) {
  const Json others[] = {7U,
                         "text",
                         Json::array({1U}),
                         Json::array({1U, 2U, 3U}),
                         Json::array({-1, 2U}),
                         Json::array({1U, -2}),
                         Json::array({1ULL << 32, 2U})};
  for (const Json& other : others) {
    Json json = kept_json();
    json["members"][1][0] = other;
    expect_kept_refused(json, "[rank, chunks]");
  }
  Json json = kept_json();
  json["members"][1] = 7U;
  expect_kept_refused(json, "'members'");
  json = kept_json();
  json["position"] = 3U;
  expect_kept_refused(json, "'position'");
  json = kept_json();
  json["missing"][0] = "text";
  expect_kept_refused(json, "'missing'");
}

}  // namespace
}  // namespace perdure::ipc
