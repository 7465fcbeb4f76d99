#include "config/toml.hpp"

#include <gtest/gtest.h>

#include <map>

namespace perdure::config {
namespace {

std::map<std::string, std::string> parsed(std::string_view text) {
  std::map<std::string, std::string> settings;
  const auto result = parse_toml(text, "p.toml");
  if (!result) return {{"error", result.error().text()}};
  for (const Setting& setting : *result) settings[setting.key] = setting.value;
  return settings;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Toml, MapsTablesToDottedKeys) {
  const auto settings = parsed(
      "job = 'x'\n[tier.memory]\nmax_bytes = \"1GiB\"\n[flush]\nretry_max = 2.5\nthreads = 3\n"
      "[engine]\nspawn = false\n");
  const std::map<std::string, std::string> expected = {{"job", "x"},
                                                       {"tier.memory.max_bytes", "1GiB"},
                                                       {"flush.retry_max", "2.5"},
                                                       {"flush.threads", "3"},
                                                       {"engine.spawn", "false"}};
  EXPECT_EQ(settings, expected);
}

TEST(Toml, JoinsAnArrayWithCommas) {
  EXPECT_EQ(parsed("[tier]\norder=['memory','file']").at("tier.order"), "memory,file");
}

TEST(Toml, NamesLineAndColumnOfWhatItCannotRead) {
  EXPECT_EQ(parsed("job = 'x'\nchunk_bytes = = 2\n").at("error").rfind("p.toml line 2 column ", 0), 0U);
}

TEST(Toml, RefusesValuesThatNoOptionCanHold) {
  EXPECT_EQ(parsed("[a]\nb = 1979-05-27").count("error"), 1U);
  EXPECT_EQ(parsed("[a]\nb = [[1]]").count("error"), 1U);
  EXPECT_EQ(parsed("a = [{b = 1}]").count("error"), 1U);
}

TEST(Toml, RefusesHostileInputWithoutExhaustingTheStack) {
  for (const std::string& text :
       {"a" + repeated(".a", 20000) + " = 1", "[a" + repeated(".a", 20000) + "]", "a = " + repeated("[", 30000),
        "a = " + repeated("{a=", 20000), repeated("[[a]]\n", 5000), repeated("a", 1 << 20), std::string(1000, '\0')}) {
    EXPECT_EQ(parsed(text).count("error"), 1U) << text.substr(0, 20);
  }
  EXPECT_EQ(parsed("# " + repeated(".", 100) + "\njob='y'").at("job"), "y");
}

// toml++ 3.3 assumes that letters of other alphabets appear in strings only.
TEST(Toml, RefusesLettersOutsideOfStringsAndBrokenUtf8) {
  for (const char* text : {"a = [\xcd\xa2\nb = 1", "caf\xc3\xa9 = 1", "a = \xd2\x8d", "\xff = 1", "a = '\xc3'"})
    EXPECT_EQ(parsed(text).count("error"), 1U) << text;
  EXPECT_EQ(parsed("job = 'caf\xc3\xa9'  # \xd2\x8d").at("job"), "caf\xc3\xa9");
}

// toml++ 3.3 ends a debug build on these.
TEST(Toml, RefusesTableHeadersThatDoNotBeginWithAKey) {
  for (const char* text : {"[=", "[!x]", "[[=]]", "[\x01[r", "[a.=]", "[ \t#"})
    EXPECT_FALSE(parse_toml(text, "p.toml")) << text;
}

}  // namespace
}  // namespace perdure::config
