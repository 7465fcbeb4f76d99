#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "config/config.hpp"
#include "config/value.hpp"

namespace perdure::config {
namespace {

TEST(Options, HaveDefaultsThatTheirOwnChecksAccept) {
  for (const Option& option : options()) {
    EXPECT_TRUE(canonical_value(option, option.default_value, option.key)) << option.key;
  }
}

TEST(Options, NameTheirEnvironmentVariableAfterTheirKey) {
  for (const Option& option : options()) {
    std::string expected = "PERDURE_";
    for (const char c : std::string(option.key)) {
      expected += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    EXPECT_EQ(option.environment, expected);
    EXPECT_FALSE(expected.starts_with("PERDURE_TEST_") || expected.starts_with("PERDURE_DEMO_")) << "reserved";
  }
}

TEST(Options, HaveDifferentKeys) {
  std::set<std::string> keys;
  for (const Option& option : options()) EXPECT_TRUE(keys.insert(option.key).second) << option.key;
}

TEST(Options, AreAllDocumentedWithoutWhatWouldBreakATable) {
  for (const Option& option : options()) {
    const std::string text = option.documentation;
    EXPECT_TRUE(text.ends_with('.') || text.ends_with('?')) << option.key;
    EXPECT_EQ(text.find_first_of("|\n"), std::string::npos) << option.key;
  }
}

TEST(Options, AreFoundByKey) {
  ASSERT_NE(find_option("chunk_bytes"), nullptr);
  EXPECT_EQ(find_option("chunk_bytes")->type, Type::bytes);
  EXPECT_EQ(find_option("chunk_byte"), nullptr);
}

TEST(Options, AppearOnThePageOneByOne) {
  const std::string page = markdown();
  for (const Option& option : options()) {
    EXPECT_NE(page.find("| `" + std::string(option.key) + "` | "), std::string::npos) << option.key;
  }
  EXPECT_NE(page.find("`embedded` or `daemon`"), std::string::npos);
}

}  // namespace
}  // namespace perdure::config
