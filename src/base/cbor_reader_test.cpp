#include "base/cbor_reader.hpp"

#include <gtest/gtest.h>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::base {
namespace {

std::vector<std::byte> raw(const std::vector<unsigned>& values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(CborReader, TakesEveryTypeInItsOrder) {
  const auto cbor = encode_cbor(Json::array({7U, -3, 1ULL << 40, "text", binary(raw({1, 2})), true, Json{{"k", 1.5}}}));
  CborReader in(cbor, 100);
  EXPECT_EQ(in.array(), 7U);
  EXPECT_EQ(in.unsigned_number(), 7U);
  EXPECT_EQ(in.type(), CborReader::Type::negative_number);
  EXPECT_EQ(in.number(), -3);
  EXPECT_EQ(in.number(), std::int64_t{1} << 40);
  EXPECT_EQ(in.text(), "text");
  EXPECT_EQ(in.bytes(), raw({1, 2}));
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.map(), 1U);
  EXPECT_EQ(in.text(), "k");
  in.skip();
  EXPECT_TRUE(in.end("x"));
  EXPECT_EQ(in.type(), CborReader::Type::none);
}

TEST(CborReader, TakesTheSameFromBlocksAsFromMemory) {
  Json list = Json::array();
  for (unsigned i = 0; i < 30'000; ++i) list.push_back(Json::array({i, std::string(i % 50, 'a')}));
  const auto cbor = encode_cbor(list);
  std::size_t given = 0, largest = 0;
  CborReader in(cbor.size(), 1U << 20, [&](ByteSpan target) -> Status {
    std::copy_n(cbor.begin() + static_cast<std::ptrdiff_t>(given), target.size(), target.begin());
    given += target.size();
    largest = std::max(largest, target.size());
    return {};
  });
  ASSERT_EQ(in.array(), 30'000U);
  for (unsigned i = 0; i < 30'000; ++i) {
    ASSERT_EQ(in.array(), 2U);
    ASSERT_EQ(in.unsigned_number(), i);
    ASSERT_EQ(in.text(), std::string(i % 50, 'a'));
  }
  EXPECT_TRUE(in.end("x"));
  EXPECT_EQ(given, cbor.size());
  EXPECT_LE(largest, 64 * KiB);
}

TEST(CborReader, SkipsWhateverItIs) {
  const Json nested = Json{{"a", Json::array({1U, Json::array(), Json::object(), nullptr})}, {"b", Json{{"c", 2.5}}}};
  const auto cbor = encode_cbor(Json::array({nested, 5U}));
  CborReader in(cbor, 100);
  EXPECT_EQ(in.array(), 2U);
  in.skip();
  EXPECT_EQ(in.unsigned_number(), 5U);
  EXPECT_TRUE(in.end("x"));
}

/// Returns the cause with which the reader refuses to skip the input.
std::string refusal(const std::vector<std::byte>& bytes, std::uint64_t most_items = 1000) {
  CborReader in(bytes, most_items);
  in.skip();
  const auto end = in.end("x");
  if (end) return "accepted";
  EXPECT_EQ(end.error().code, PERDURE_CORRUPT);
  return end.error().cause;
}

TEST(CborReader, RefusesWhatIsNoneOrClaimsTooMuch) {
  const auto says = [](const std::vector<std::byte>& bytes, const char* what) {
    EXPECT_NE(refusal(bytes).find(what), std::string::npos) << refusal(bytes);
  };
  says({}, "it ends too early");
  says(raw({0x19, 0x01}), "it ends too early");
  says(raw({0x9B, 0x10, 0, 0, 0, 0, 0, 0, 0}), "more items than bytes follow");
  says(raw({0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}), "more items than bytes follow");
  says(raw({0x5B, 0x40, 0, 0, 0, 0, 0, 0, 0}), "longer than what follows");
  says(raw({0x7B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}), "longer than what follows");
  says(raw({0x9F, 0xFF}), "without a definite length");
  says(raw({0xC0, 0x01}), "a tag");
  says(raw({0xF8, 0x20}), "a kind of item that there is not");
  says(raw({0x01, 0x01}), "goes on after its end");
  says(std::vector<std::byte>(1000, std::byte{0x81}), "nested too deeply");
  says(encode_cbor(std::string(40'000, 'a')), "more than 32 KiB");
  const auto many = encode_cbor(Json(std::vector<unsigned>(100)));
  EXPECT_EQ(refusal(many, 101), "accepted");
  EXPECT_EQ(refusal(many, 100), "not valid CBOR: it has too many items");
}

TEST(CborReader, RefusesAnotherTypeAndThenTakesNothing) {
  const auto cbor = encode_cbor(Json::array({"text", 5U}));
  CborReader in(cbor, 100);
  EXPECT_EQ(in.array(), 2U);
  EXPECT_EQ(in.unsigned_number(), 0U);
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.good());
  EXPECT_EQ(in.check("x").error().cause, "not valid CBOR: it is no unsigned number");
}

TEST(CborReader, SaysWhatReadingFailedWith) {
  CborReader in(100, 100, [](ByteSpan) -> Status { return fail(PERDURE_IO, "disk", "bad sector"); });
  in.skip();
  EXPECT_EQ(in.end("x").error().code, PERDURE_IO);
}

}  // namespace
}  // namespace perdure::base
