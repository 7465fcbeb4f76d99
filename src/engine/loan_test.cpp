// What nodes lend each other after a loss comes over the network of the application: it round-trips, and nothing
// malformed is believed.
#include "engine/loan.hpp"

#include <gtest/gtest.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "support/damaged_fields.hpp"
#include "support/sample_records.hpp"

namespace perdure::engine {
namespace {

using base::Json;

BlockPlace place_of(std::uint8_t name, std::uint64_t offset) { return {{std::byte{name}, std::byte{0xff}}, offset}; }

/// A piece of three chunks, of which one is not to be used, and a part with two blocks, of which one is not there.
Loan sample_loan() {
  const auto id = test_support::sample_id(1);
  Loan loan;
  loan.address.assign(28, std::byte{5});
  loan.pieces.push_back({test_support::sample_piece(id, 2, 9000, 4096), {place_of(1, 0), {}, place_of(1, 8192)}});
  loan.parts.push_back({test_support::sample_protection(id, 5), {{{4, 0}, place_of(2, 1ULL << 40)}}});
  return loan;
}

Json loan_json() { return base::decode_cbor(encode(sample_loan()), "test").value(); }

void expect_loan_refused(const Json& json, const std::string& word) {
  const auto loan = decode_loan(base::encode_cbor(json));
  ASSERT_FALSE(loan) << json;
  EXPECT_EQ(loan.error().code, PERDURE_CORRUPT);
  EXPECT_NE(loan.error().text().find(word), std::string::npos) << loan.error().text() << " for " << word;
}

TEST(LoanCodec, ALoanComesBackAsItWasLent) {
  const Loan lent = sample_loan();
  const auto loan = decode_loan(encode(lent));
  ASSERT_TRUE(loan) << loan.error().text();
  EXPECT_EQ(loan->address, lent.address);
  ASSERT_EQ(loan->pieces.size(), 1U);
  EXPECT_EQ(loan->pieces[0].piece, lent.pieces[0].piece);
  EXPECT_EQ(loan->pieces[0].places, lent.pieces[0].places);
  ASSERT_EQ(loan->parts.size(), 1U);
  EXPECT_EQ(loan->parts[0].places, lent.parts[0].places);
  const auto &came = loan->parts[0].protection, &went = lent.parts[0].protection;
  EXPECT_EQ(came.id, went.id);
  EXPECT_EQ(came.members, went.members);
  EXPECT_EQ(came.kept, went.kept);
  EXPECT_EQ(encode(*loan), encode(lent));
}

TEST(LoanCodec, ANodeThatHasNothingLendsNothing) {
  const auto loan = decode_loan(encode(Loan{}));
  ASSERT_TRUE(loan);
  EXPECT_TRUE(loan->address.empty() && loan->pieces.empty() && loan->parts.empty());
}

TEST(LoanCodec, AFieldThatIsMissingOrOfAnotherTypeIsRefusedByName) {
  const Json good = loan_json();
  test_support::for_each_damaged_field(
      good, [](const Json& damaged, const std::string& key, bool) { expect_loan_refused(damaged, key); });
  for (const char* list : {"pieces", "parts"})
    test_support::for_each_damaged_field(good[list][0], [&](const Json& damaged, const std::string& key, bool nested) {
      if (key == "record" && damaged.contains("record") && damaged["record"].is_object()) return;  // the log's own
      Json json = good;
      json[list][0] = damaged;
      expect_loan_refused(json, nested ? "" : key);
    });
}

TEST(LoanCodec, ItemsOfAnotherTypeAreRefused) {
  for (const char* list : {"pieces", "parts"})
    for (const Json& other : {Json(), Json(7U), Json("text"), Json::array({1U}), Json::binary({1})}) {
      Json json = loan_json();
      json[list].push_back(other);
      expect_loan_refused(json, std::string("'") + list + "'");
    }
}

TEST(LoanCodec, APlaceIsAMemoryAndAnOffsetOrNothing) {
  const Json memory = Json::binary({1, 2});
  for (const Json& other :
       {Json(7U), Json("text"), Json::object(), Json::array({memory}), Json::array({memory, 1U, 2U}),
        Json::array({memory, -1}), Json::array({memory, "text"}), Json::array({"text", 1U}), Json::array({1U, memory})})
    for (const char* list : {"pieces", "parts"}) {
      Json json = loan_json();
      json[list][0]["places"][0] = other;
      expect_loan_refused(json, "'places'");
    }
  Json json = loan_json();
  json["pieces"][0]["places"][0] = nullptr;
  EXPECT_FALSE(decode_loan(base::encode_cbor(json))->pieces[0].places[0]);
}

TEST(LoanCodec, ThereIsAPlaceForEachBlock) {
  for (const char* list : {"pieces", "parts"}) {
    Json more = loan_json(), fewer = loan_json();
    more[list][0]["places"].push_back(nullptr);
    expect_loan_refused(more, "'places' has not one of each block");
    fewer[list][0]["places"].erase(0);
    expect_loan_refused(fewer, "'places' has not one of each block");
  }
}

TEST(LoanCodec, NamesAreNoLongerThanTheyMayBe) {
  Loan loan = sample_loan();
  loan.address.resize(4096);
  loan.pieces[0].places[0]->memory.resize(4096);
  EXPECT_TRUE(decode_loan(encode(loan)));
  loan.pieces[0].places[0]->memory.resize(4097);
  expect_loan_refused(base::decode_cbor(encode(loan), "test").value(), "'places'");
  loan.pieces[0].places[0]->memory.clear();
  loan.address.resize(4097);
  expect_loan_refused(base::decode_cbor(encode(loan), "test").value(), "'address'");
}

TEST(LoanCodec, BytesThatEndEarlyOrGoOnAreRefused) {
  auto bytes = encode(sample_loan());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decode_loan(base::ConstByteSpan(bytes).first(length))) << length;
  bytes.push_back({});
  EXPECT_FALSE(decode_loan(bytes));
  for (const Json& other : {Json(), Json(7U), Json("text"), Json::array()}) expect_loan_refused(other, "'address'");
}

}  // namespace
}  // namespace perdure::engine
