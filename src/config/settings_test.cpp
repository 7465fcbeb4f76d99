#include "config/settings.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::config {
namespace {

TEST(Settings, AreSeparatedByNewlinesOrSemicolons) {
  const auto settings = parse_settings(" a = 1 ;b=2\n\n;c.d =x y; ");
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->size(), 3U);
  EXPECT_EQ((*settings)[0].key, "a");
  EXPECT_EQ((*settings)[0].value, "1");
  EXPECT_EQ((*settings)[1].value, "2");
  EXPECT_EQ((*settings)[2].key, "c.d");
  EXPECT_EQ((*settings)[2].value, "x y");
}

TEST(Settings, MayHoldEqualsSignsAndNothing) {
  const auto settings = parse_settings("a=b=c;empty=");
  ASSERT_TRUE(settings);
  EXPECT_EQ((*settings)[0].value, "b=c");
  EXPECT_EQ((*settings)[1].value, "");
}

TEST(Settings, KeepSemicolonsInQuotes) {
  const auto settings = parse_settings(R"(a = " x;\"y\\ "; b=2)");
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->size(), 2U);
  EXPECT_EQ((*settings)[0].value, R"( x;"y\ )");
  EXPECT_EQ((*settings)[1].value, "2");
}

TEST(Settings, TakeAQuoteInsideAValueAsAPlainCharacter) {
  const auto settings = parse_settings("a=it\"s;b=2");
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->size(), 2U);
  EXPECT_EQ((*settings)[0].value, "it\"s");
}

TEST(Settings, WithoutEqualsSignOrClosingQuoteAreRefused) {
  EXPECT_FALSE(parse_settings("a"));
  EXPECT_FALSE(parse_settings("a=1;b"));
  EXPECT_FALSE(parse_settings("a=\"x"));
  EXPECT_FALSE(parse_settings("a=\"x\" y"));
  EXPECT_FALSE(parse_settings("a=\"x\\"));
  EXPECT_FALSE(parse_settings("a=\""));
}

TEST(Settings, ComeBackAsTheyWereWritten) {
  std::mt19937 random(1);
  constexpr std::string_view alphabet = "a;\"\\ =/.'#\t";
  for (int round = 0; round < 2000; ++round) {
    std::string value(random() % 8, ' ');
    for (char& c : value) c = alphabet[random() % alphabet.size()];
    const std::string text = format_setting("key", value) + "\n" + format_setting("next", "1");
    const auto settings = parse_settings(text);
    ASSERT_TRUE(settings) << text;
    ASSERT_EQ(settings->size(), 2U) << text;
    EXPECT_EQ((*settings)[0].value, value) << text;
    EXPECT_EQ((*settings)[1].value, "1") << text;
  }
}

}  // namespace
}  // namespace perdure::config
