// Tests that each encoded value is decoded again, and that any bytes are decoded or refused without harm.
#include "base/field_codec.hpp"

#include <gtest/gtest.h>

#include "base/any_value_testing.hpp"
#include "support/sanitized.hpp"

namespace perdure::base {
namespace {

enum class Colour : std::uint8_t { red, green, blue };
constexpr Colour greatest(Colour) { return Colour::blue; }

struct Point {
  std::int32_t x = 0;
  std::uint64_t y = 0;
  PERDURE_FIELDS(x, y)
  friend bool operator==(const Point&, const Point&) = default;
};
struct Nothing {
  PERDURE_FIELDS()
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
struct Everything {
  std::uint8_t small = 0;
  std::int64_t large = 0;
  bool yes = false;
  double real = 0;
  Colour colour = Colour::red;
  std::string text;
  std::vector<std::byte> bytes;
  std::array<std::uint16_t, 3> three{};
  std::vector<Point> points;
  std::vector<std::vector<std::string>> lists;
  std::optional<Point> maybe;
  std::pair<std::uint32_t, std::string> both;
  std::map<std::string, Point> named;
  std::variant<Nothing, Point, std::string> one_of;
  Hash128 hash;
  Result<Point> outcome = Point{};
  PERDURE_FIELDS(small, large, yes, real, colour, text, bytes, three, points, lists, maybe, both, named, one_of, hash,
                 outcome)
};
struct Range {
  std::uint32_t begin = 0, end = 0;
  PERDURE_FIELDS(begin, end)
  std::string wrong() const { return begin <= end ? "" : "field 'begin' is after 'end'"; }
};
struct Ranges {
  std::vector<Range> ranges;
  PERDURE_FIELDS(ranges)
};

using Octets = std::vector<std::byte>;

Octets octets(std::initializer_list<int> values) {
  Octets bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

template <class T>
std::string refusal(const Octets& bytes) {
  const auto value = decode_fields<T>(bytes, "test");
  EXPECT_FALSE(value);
  if (value) return {};
  EXPECT_EQ(value.error().code, PERDURE_CORRUPT);
  return value.error().cause;
}

TEST(FieldCodec, NamesOfFieldsAreThoseOfTheList) {
  EXPECT_EQ(field_name("first, second,third", 0), "first");
  EXPECT_EQ(field_name("first, second,third", 1), "second");
  EXPECT_EQ(field_name("first, second,third", 2), "third");
}

TEST(FieldCodec, NumbersAreLittleEndianAndCountsComeFirst) {
  EXPECT_EQ(encode_fields(Point{-2, 0x0102}), octets({0xfe, 0xff, 0xff, 0xff, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode_fields(std::string("ab")), octets({2, 0, 0, 0, 'a', 'b'}));
  EXPECT_EQ(encode_fields(std::optional<bool>(true)), octets({1, 1}));
  EXPECT_EQ(encode_fields(std::optional<bool>()), octets({0}));
  EXPECT_EQ(encode_fields(Nothing{}), octets({}));
}

TEST(FieldCodec, AnyValueComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto value = test_support::AnyValue(seed).make<Everything>();
    const Octets bytes = encode_fields(value);
    const auto again = decode_fields<Everything>(bytes, "test");
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(encode_fields(*again), bytes) << seed;
    EXPECT_EQ(again->points, value.points);
    EXPECT_EQ(again->maybe, value.maybe);
    EXPECT_EQ(again->named, value.named);
    EXPECT_EQ(again->one_of, value.one_of);
    EXPECT_EQ(again->hash, value.hash);
    EXPECT_EQ(again->outcome.has_value(), value.outcome.has_value());
  }
}

TEST(FieldCodec, WhatEndsEarlyOrGoesOnIsRefusedWhereverThatIs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Octets bytes = encode_fields(test_support::AnyValue(seed).make<Everything>());
    for (std::size_t length = 0; length < bytes.size(); ++length)
      ASSERT_FALSE(decode_fields<Everything>(ConstByteSpan(bytes).first(length), "test")) << seed << ", " << length;
    bytes.emplace_back();
    EXPECT_EQ(refusal<Everything>(bytes), "it goes on after its end");
  }
}

TEST(FieldCodec, ChangedBytesAreRefusedOrAnotherValue) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Octets bytes = encode_fields(test_support::AnyValue(seed % 50).make<Everything>());
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = random() % 2 == 0 ? std::byte{0xff} : static_cast<std::byte>(random());
    const auto value = decode_fields<Everything>(bytes, "test");
    if (!value) continue;
    const auto again = decode_fields<Everything>(encode_fields(*value), "test");
    ASSERT_TRUE(again);
    EXPECT_EQ(encode_fields(*again), encode_fields(*value));
  }
}

TEST(FieldCodec, NoCountIsBelieved) {
  const Octets huge = octets({0xff, 0xff, 0xff, 0xff, 1, 2, 3});
  EXPECT_EQ(refusal<std::string>(huge), "it ends too early");
  EXPECT_EQ(refusal<Octets>(huge), "it ends too early");
  EXPECT_EQ(refusal<std::vector<Point>>(huge), "it has more items than bytes follow");
  EXPECT_EQ(refusal<std::vector<Nothing>>(huge), "it has more items than bytes follow");
  EXPECT_EQ((refusal<std::map<std::string, Point>>(huge)), "it has more items than bytes follow");
  Octets many(4 + (FieldReader::kMostItems + 1));
  const Octets count = encode_fields(FieldReader::kMostItems + 1);
  std::copy(count.begin(), count.end(), many.begin());
  EXPECT_EQ(refusal<std::vector<std::uint8_t>>(many), "it has too many items");
}

TEST(FieldCodec, TheItemsOfAllListsAreCountedTogether) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  std::vector<std::vector<std::uint8_t>> lists(5, std::vector<std::uint8_t>(FieldReader::kMostItems / 4));
  EXPECT_EQ(refusal<decltype(lists)>(encode_fields(lists)), "it has too many items");
  lists.resize(3);
  EXPECT_TRUE(decode_fields<decltype(lists)>(encode_fields(lists), "test"));
}

TEST(FieldCodec, ValuesThatThereAreNotAreRefused) {
  EXPECT_EQ(refusal<bool>(octets({2})), "it is neither true nor false");
  EXPECT_EQ(refusal<Colour>(octets({3})), "it is a value that there is not");
  EXPECT_EQ((refusal<std::variant<Nothing, bool>>(octets({2}))), "it is a kind that there is not");
  EXPECT_EQ((refusal<std::optional<bool>>(octets({7, 0}))), "it is neither true nor false");
}

TEST(FieldCodec, KeysOfAMapAscend) {
  using Map = std::map<std::uint8_t, bool>;
  EXPECT_TRUE((decode_fields<Map>(octets({2, 0, 0, 0, 1, 0, 2, 1}), "test")));
  EXPECT_EQ(refusal<Map>(octets({2, 0, 0, 0, 1, 0, 1, 1})), "it has keys that do not ascend");
  EXPECT_EQ(refusal<Map>(octets({2, 0, 0, 0, 2, 0, 1, 1})), "it has keys that do not ascend");
}

struct Node {
  std::vector<Node> children;
  PERDURE_FIELDS(children)
};

TEST(FieldCodec, NestingHasALimit) {
  const auto nested = [](unsigned depth) {
    Octets bytes;
    for (unsigned i = 1; i < depth; ++i) append_fields(bytes, std::uint32_t{1});
    append_fields(bytes, std::uint32_t{0});
    return bytes;
  };
  EXPECT_TRUE(decode_fields<Node>(nested(FieldReader::kMostNested), "test"));
  EXPECT_NE(refusal<Node>(nested(FieldReader::kMostNested + 1)).find("it is nested too deeply"), std::string::npos);
  EXPECT_NE(refusal<Node>(nested(1'000'000)).find("it is nested too deeply"), std::string::npos);
}

TEST(FieldCodec, WhatIsWrongIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal<Range>(encode_fields(Range{2, 1})), "field 'begin' is after 'end'");
  EXPECT_EQ(refusal<Ranges>(encode_fields(Ranges{{{1, 2}, {4, 3}}})), "field 'ranges': field 'begin' is after 'end'");
  EXPECT_EQ(refusal<Ranges>(octets({1, 0, 0, 0, 0, 0, 0, 0, 0})),
            "field 'ranges': it has more items than bytes follow");
  EXPECT_EQ(refusal<Point>(octets({1, 2, 3, 4, 5})), "field 'y': it ends too early");
}

TEST(FieldCodec, AnErrorComesBackAsItWasAndIsNeverNone) {
  const Error error{PERDURE_NO_SPACE, "tier memory", "it is full", "make room", true};
  const auto again = decode_fields<Result<Point>>(encode_fields(Result<Point>(fail(error))), "test");
  ASSERT_TRUE(again);
  ASSERT_FALSE(*again);
  EXPECT_EQ(again->error().text(), error.text());
  EXPECT_TRUE(again->error().retryable);
  for (const int code : {0, kLastErrorCode + 1, 255}) {
    Octets bytes = encode_fields(Result<Point>(fail(error)));
    bytes[1] = static_cast<std::byte>(code);
    const auto odd = decode_fields<Result<Point>>(bytes, "test");
    ASSERT_TRUE(odd && !*odd);
    EXPECT_EQ(odd->error().code, PERDURE_INTERNAL) << "of a later release";
  }
}

TEST(FieldCodec, AViewPointsIntoWhatItWasReadFrom) {
  const Octets bytes = encode_fields(octets({1, 2, 3}));
  const auto view = decode_fields<ConstByteSpan>(bytes, "test");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->data(), bytes.data() + 4);
  EXPECT_EQ(view->size(), 3u);
}

}  // namespace
}  // namespace perdure::base
