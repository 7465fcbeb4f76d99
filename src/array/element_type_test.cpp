#include "array/element_type.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace perdure::array {
namespace {

ElementType parsed(const std::string& text) { return ElementType::parse(text, "region 3").value(); }

bool refused(const std::string& text) {
  const auto type = ElementType::parse(text, "region 3");
  if (type) return false;
  EXPECT_EQ(type.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(type.error().object, "region 3");
  return true;
}

TEST(ElementTypes, AreReadAndWrittenAsTheyAre) {
  for (const char* text : {"i1",
                           "i2",
                           "i4",
                           "i8",
                           "u1",
                           "u2",
                           "u4",
                           "u8",
                           "f4",
                           "f8",
                           "c8",
                           "c16",
                           "b1",
                           "v1",
                           "v777",
                           "v1048576",
                           "{x:f8}",
                           "{position:3f8,id:i4,v4}",
                           "{v3,a_1:u1,v4:f4}",
                           "{f8:f8}"})
    EXPECT_EQ(parsed(text).text(), text);
  const auto body = parsed("{position:3f8,id:i4,v4}");
  EXPECT_EQ(body.bytes(), 32U);
  ASSERT_EQ(body.members().size(), 3U);
  EXPECT_EQ(body.members()[1], (Member{"id", {ScalarKind::integer, 4}, 1, 24}));
  EXPECT_EQ(body.members()[2], (Member{"", {ScalarKind::bytes, 4}, 1, 28}));
  EXPECT_FALSE(parsed("f8").compound());
  EXPECT_EQ(ElementType::of_bytes(24), parsed("v24"));
}

TEST(ElementTypes, ThatAreNoneAreRefused) {
  for (const char* text : {"",
                           "f",
                           "f2",
                           "f16",
                           "i3",
                           "i0",
                           "i08",
                           "u16",
                           "b2",
                           "v0",
                           "v",
                           "v1048577",
                           "v99999999999999999999",
                           "f8 ",
                           "F8",
                           "{}",
                           "{x:f8",
                           "{x:f8,}",
                           "{x:f8}f8",
                           "{f8}",
                           "{:f8}",
                           "{x:}",
                           "{x:0f8}",
                           "{x:f8,x:f4}",
                           "{1x:f8}",
                           "{x:{y:f8}}",
                           "{x:2000000f8}",
                           "3f8",
                           "{x:f8;y:f8}"})
    EXPECT_TRUE(refused(text)) << text;
  EXPECT_TRUE(refused("{" + std::string(65, 'a') + ":f8}"));
  EXPECT_TRUE(refused(std::string(5000, 'f')));
  EXPECT_TRUE(refused("{a:1048576v1,b:v1}")) << "2^20 + 1 bytes";
  std::string many = "{v1";
  for (int i = 0; i < 256; ++i) many += ",v1";
  EXPECT_TRUE(refused(many + "}"));
}

TEST(ElementTypes, SurviveAnyText) {
  std::mt19937_64 random(1);
  const std::string letters = "iufcbv{}:,0123456789xy";
  unsigned good = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += letters[random() % letters.size()];
    const auto type = ElementType::parse(text, "test");
    if (!type) continue;
    ++good;
    EXPECT_EQ(type->text(), text);
    EXPECT_GT(type->bytes(), 0U);
  }
  EXPECT_GT(good, 100U);
}

template <class T>
double number(const char* type, T value) {
  std::byte bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return as_number(parsed(type).members().front().scalar, bytes);
}

TEST(ElementTypes, GiveTheirValuesAsNumbers) {
  EXPECT_EQ(number("i1", std::int8_t{-3}), -3);
  EXPECT_EQ(number("i2", std::int16_t{-300}), -300);
  EXPECT_EQ(number("i4", std::int32_t{-70000}), -70000);
  EXPECT_EQ(number("i8", std::int64_t{-1} << 40), -1099511627776.0);
  EXPECT_EQ(number("u1", std::uint8_t{200}), 200);
  EXPECT_EQ(number("u8", ~std::uint64_t{0}), 18446744073709551616.0);
  EXPECT_EQ(number("f4", 1.5F), 1.5);
  EXPECT_EQ(number("f8", -2.25), -2.25);
  EXPECT_EQ(number("b1", std::uint8_t{1}), 1);
}

}  // namespace
}  // namespace perdure::array
