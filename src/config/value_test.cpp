#include "config/value.hpp"

#include <gtest/gtest.h>

namespace perdure::config {
namespace {

std::string canonical(const char* key, std::string_view value) {
  const auto result = canonical_value(*find_option(key), value, key);
  return result ? *result : "refused: " + result.error().cause;
}

bool refused(const char* key, std::string_view value) { return canonical(key, value).starts_with("refused: "); }

TEST(Value, IsTheSameInCanonicalFormHoweverItIsWritten) {
  EXPECT_EQ(canonical("chunk_bytes", "64MiB"), "67108864");
  EXPECT_EQ(canonical("chunk_bytes", "67108864"), "67108864");
  EXPECT_EQ(canonical("flush.retry_max", "10"), canonical("flush.retry_max", "10.0"));
  EXPECT_EQ(canonical("flush.retry_max", "1e1"), canonical("flush.retry_max", "10"));
  EXPECT_EQ(canonical("engine.idle_exit", "-0"), canonical("engine.idle_exit", "0"));
  EXPECT_EQ(canonical("engine.spawn", "yes"), "true");
  EXPECT_EQ(canonical("engine.spawn", "0"), "false");
}

TEST(Value, OfAnotherTypeIsRefused) {
  for (const char* text : {"", "x", "1x", " 1", "1 ", "0x10", "99999999999999999999999999"}) {
    EXPECT_TRUE(refused("flush.threads", text)) << text;
  }
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1s"}) {
    EXPECT_TRUE(refused("engine.idle_exit", text)) << text;
  }
  for (const char* text : {"", "maybe", "TRUE!", "2"}) EXPECT_TRUE(refused("engine.spawn", text)) << text;
  for (const char* text : {"", "x", "-1", "1 furlong"}) EXPECT_TRUE(refused("tier.file.max_bytes", text)) << text;
  for (const char* text : {"", "embedded|daemon", "embed", "|", "daemon "}) {
    EXPECT_TRUE(refused("engine.mode", text)) << text;
  }
}

TEST(Value, OutsideItsRangeIsRefusedWithTheLimit) {
  EXPECT_EQ(canonical("flush.threads", "0"), "refused: '0' is below the smallest value, 1");
  EXPECT_EQ(canonical("flush.threads", "65"), "refused: '65' is above the greatest value, 64");
  EXPECT_EQ(canonical("retention.keep_last", "0"), "refused: '0' is below the smallest value, 1");
  EXPECT_EQ(canonical("chunk_bytes", "4KiB"), "refused: '4KiB' is below the smallest value, 64.0 KiB");
  EXPECT_EQ(canonical("chunk_bytes", "65537"), "refused: '65537' is not a multiple of 4096");
  EXPECT_TRUE(refused("retention.keep_last", "9223372036854775807"));
  EXPECT_TRUE(refused("retention.keep_every", "-1"));
}

TEST(Value, AtItsLimitsIsAccepted) {
  EXPECT_EQ(canonical("flush.threads", "1"), "1");
  EXPECT_EQ(canonical("flush.threads", "64"), "64");
  EXPECT_EQ(canonical("chunk_bytes", "64KiB"), "65536");
}

TEST(Value, OfATextRefusesControlCharactersAndExcess) {
  EXPECT_TRUE(refused("store.path", "a\nb"));
  EXPECT_TRUE(refused("store.path", std::string_view("a\0b", 3)));
  EXPECT_TRUE(refused("store.path", std::string(5000, 'a')));
  EXPECT_TRUE(refused("store.path", ""));
  EXPECT_EQ(canonical("store.path", "/tmp/Grüße; \"x\""), "/tmp/Grüße; \"x\"");
  EXPECT_TRUE(refused("job", ""));
  EXPECT_TRUE(refused("job", std::string(129, 'j')));
}

TEST(Value, OfTheTierOrderNamesKnownTiersOnce) {
  EXPECT_FALSE(refused("tier.order", "memory,file"));
  EXPECT_FALSE(refused("tier.order", "file, memory"));
  EXPECT_FALSE(refused("tier.order", "file"));
  for (const char* text : {"", ",", "memory,", "memory,,file", "memory,memory", "memory,tape", "mem"}) {
    EXPECT_TRUE(refused("tier.order", text)) << text;
  }
}

TEST(Value, OfSegmentPerIsAWordOrANumber) {
  for (const char* text : {"node", "rank", "1", "1000000"}) EXPECT_FALSE(refused("segment.per", text)) << text;
  for (const char* text : {"", "nodes", "0", "-1", "1000001", "2x"}) EXPECT_TRUE(refused("segment.per", text)) << text;
}

TEST(Value, ThatIsHostileIsCutInTheMessage) {
  const auto result = canonical_value(*find_option("flush.threads"), std::string(1 << 20, '9'), "x");
  ASSERT_FALSE(result);
  EXPECT_LT(result.error().text().size(), 1000U);
}

}  // namespace
}  // namespace perdure::config
