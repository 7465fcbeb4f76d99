#include "base/cbor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/json.hpp"
#include "support/sanitized.hpp"

namespace perdure::base {
namespace {

using testing::HasSubstr;

constexpr const char* kObject = "segment 3";

std::vector<std::byte> raw(std::initializer_list<int> values) {
  std::vector<std::byte> data;
  for (int value : values) data.push_back(static_cast<std::byte>(value));
  return data;
}

void expect_corrupt(const std::vector<std::byte>& data) {
  const auto decoded = decode_cbor(data, kObject);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(decoded.error().object, kObject);
}

Json sample() {
  return {{"name", "nbody"},
          {"version", UINT64_MAX},
          {"complete", true},
          {"chunks", Json::array({1, 2, Json{{"hash", Json::binary({1, 2, 3})}}})}};
}

TEST(Cbor, ComesBackAsItWas) { EXPECT_EQ(decode_cbor(encode_cbor(sample()), kObject).value(), sample()); }

TEST(Cbor, RefusesEveryPrefixOfAnItem) {
  const auto whole = encode_cbor(sample());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    expect_corrupt({whole.begin(), whole.begin() + static_cast<long>(bytes)});
}

TEST(Cbor, RefusesBytesBehindTheItem) {
  auto data = encode_cbor(sample());
  data.push_back(std::byte{0});
  expect_corrupt(data);
}

TEST(Cbor, RefusesDeepNesting) {
  EXPECT_TRUE(decode_cbor(raw({0x81, 0x81, 0x81, 0x01}), kObject));
  std::vector<std::byte> arrays(100'000, std::byte{0x81});  // an array of one, of one, of one ...
  arrays.push_back(std::byte{1});
  expect_corrupt(arrays);
  expect_corrupt(std::vector<std::byte>(100'000, std::byte{0x9f}));  // the same without a length
}

TEST(Cbor, RefusesAGiantClaimWithoutReservingMemoryForIt) {
  expect_corrupt(raw({0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));  // array of 2^63-1
  expect_corrupt(raw({0xbb, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));  // map
  expect_corrupt(raw({0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));  // bytes
  expect_corrupt(raw({0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));  // text
}

TEST(Cbor, RefusesMoreItemsThanTheLimit) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  std::vector<std::byte> data = raw({0x9a, 0x01, 0x00, 0x00, 0x00});  // announces 2^24 + 1 items
  static_assert(kMaxCborItems == 0x1000000);
  data.resize(data.size() + kMaxCborItems, std::byte{1});
  expect_corrupt(data);
}

TEST(Cbor, NeverThrowsOnRandomBytes) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> data(random() % 64);
    for (std::byte& b : data) b = static_cast<std::byte>(random());
    const auto decoded = decode_cbor(data, kObject);
    EXPECT_TRUE(decoded || decoded.error().code == PERDURE_CORRUPT);
  }
}

TEST(Cbor, NeverThrowsOnAnItemWithOneChangedByte) {
  std::mt19937_64 random(6);
  const auto whole = encode_cbor(sample());
  for (int round = 0; round < 5000; ++round) {
    auto data = whole;
    data[random() % data.size()] = static_cast<std::byte>(random());
    (void)decode_cbor(data, kObject).has_value();
  }
}

TEST(CborFields, GiveTheValueOfTheRightType) {
  const Json map = sample();
  EXPECT_EQ(get_u64(map, "version", kObject).value(), UINT64_MAX);
  EXPECT_EQ(get_text(map, "name", kObject).value(), "nbody");
  EXPECT_TRUE(get_bool(map, "complete", kObject).value());
  EXPECT_EQ(get_array(map, "chunks", kObject).value()->size(), 3U);
}

TEST(CborFields, NameTheFieldThatIsMissingOrOfTheWrongType) {
  const Json map = {{"negative", -1}, {"real", 1.5}, {"text", "x"}};
  for (const char* key : {"negative", "real", "text", "missing"}) {
    const auto got = get_u64(map, key, kObject);
    ASSERT_FALSE(got) << key;
    EXPECT_EQ(got.error().code, PERDURE_CORRUPT);
    EXPECT_THAT(got.error().text(), HasSubstr(std::string("'") + key + "'"));
  }
  EXPECT_FALSE(get_text(map, "real", kObject));
  EXPECT_FALSE(get_bool(map, "text", kObject));
  EXPECT_FALSE(get_array(map, "text", kObject));
}

TEST(CborFields, RefuseWhatIsNotAMap) {
  const Json list = Json::array({1, 2});
  EXPECT_FALSE(get_u64(list, "a", kObject));
  EXPECT_FALSE(get_text(list, "a", kObject));
  EXPECT_FALSE(get_bool(list, "a", kObject));
  EXPECT_FALSE(get_array(list, "a", kObject));
}

// Encodes an array of `count` zeros.
std::vector<std::byte> zeros(std::uint32_t count) {
  std::vector<std::byte> data(5 + std::size_t{count});
  data[0] = std::byte{0x9a};
  for (unsigned i = 0; i < 4; ++i) data[1 + i] = static_cast<std::byte>(count >> (24 - 8 * i));
  return data;
}

TEST(CheckCbor, TakesExactlyWhatReadersTake) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  for (const bool more : {false, true}) {
    const auto data = zeros(kMaxCborItems - 1 + (more ? 1 : 0));
    EXPECT_EQ(decode_cbor(data, "x").has_value(), !more);
    const auto checked = check_cbor(data, "x");
    EXPECT_EQ(checked.has_value(), !more);
    if (more) {
      EXPECT_EQ(checked.error().code, PERDURE_INVALID_ARGUMENT);
    }
  }
}

}  // namespace
}  // namespace perdure::base
