#include "config/node_numbers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "config/config.hpp"

namespace perdure::config {
namespace {

using Listed = std::vector<std::uint32_t>;

TEST(NodeNumbers, KeepTheirOrder) {
  EXPECT_EQ(parse_node_numbers("").numbers, Listed{});
  EXPECT_EQ(parse_node_numbers("  ").numbers, Listed{});
  EXPECT_EQ(parse_node_numbers("0").numbers, Listed{0});
  EXPECT_EQ(parse_node_numbers("3,0, 7 ,999999999").numbers, (Listed{3, 0, 7, 999999999}));
}

TEST(NodeNumbers, ThatAreNoneAreRefused) {
  for (const char* text : {",", "1,", ",1", "1,,2", "-1", "+1", "1.5", "a", "0x1", "1 2", "1;2", "1000000000",
                           "99999999999999999999", "1,2,two"}) {
    const auto parsed = parse_node_numbers(text);
    ASSERT_NE(parsed.refusal, nullptr) << text;
    EXPECT_TRUE(std::string(parsed.refusal).starts_with("must be whole numbers")) << text;
    EXPECT_EQ(parsed.numbers, Listed{}) << text;
  }
}

TEST(NodeNumbers, AreDistinctHoweverTheyAreWritten) {
  for (const char* text : {"1,1", "0,1,2,0", "1,01"})
    EXPECT_STREQ(parse_node_numbers(text).refusal, "has a number twice") << text;
}

TEST(NodeNumbers, AreAnOptionWhoseErrorNamesIt) {
  Config config;
  const auto twice = config.set("node.numbers", "2,2", Origin::environment, "PERDURE_NODE_NUMBERS");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().text().find("PERDURE_NODE_NUMBERS"), std::string::npos);
  EXPECT_NE(twice.error().text().find("twice"), std::string::npos);
}

// A later launch on other nodes must still find the remaining engines and directories.
TEST(NodeNumbers, DoNotTellEnginesApart) {
  Config config;
  ASSERT_TRUE(config.set("node.numbers", "0,4,2", Origin::environment));
  EXPECT_EQ(config.fingerprint(), Config().fingerprint());
}

}  // namespace
}  // namespace perdure::config
