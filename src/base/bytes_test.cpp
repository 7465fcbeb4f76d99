#include "base/bytes.hpp"

#include <gtest/gtest.h>

namespace perdure::base {
namespace {

TEST(ParseBytes, ReadsNumbersWithAndWithoutUnits) {
  const std::pair<const char*, std::uint64_t> expectations[] = {
      {"0", 0},
      {"1000", 1000},
      {"7B", 7},
      {"64k", 64 * KiB},
      {"64K", 64 * KiB},
      {"64KiB", 64 * KiB},
      {"64kb", 64'000},
      {"256MiB", 256 * MiB},
      {" 256 MiB ", 256 * MiB},
      {"3M", 3 * MiB},
      {"3MB", 3'000'000},
      {"1.5 GiB", GiB + GiB / 2},
      {"0.5k", 512},
      {"2GB", 2'000'000'000},
      {"4T", 4096 * GiB},
      {"4TB", 4'000'000'000'000},
      {"18446744073709551615", UINT64_MAX},
  };
  for (const auto& [text, bytes] : expectations) {
    const auto parsed = parse_bytes(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", " ", "MiB", "-1", "+1", "1 2", "1.2.3MiB", ".", "1e3", "12 elephants", "0x10", "1MiBs", "nan", "inf"}) {
    const auto parsed = parse_bytes(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_FALSE(parsed.error().remedy.empty());
  }
}

TEST(ParseBytes, RefusesWhatDoesNotFitInsteadOfWrappingAround) {
  for (const char* text : {"18446744073709551616", "18446744073709551615k", "16777216T", "99999999999.5T"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  EXPECT_TRUE(parse_bytes("16777215T"));
}

TEST(FormatBytes, WritesOneDecimalInTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(256 * MiB), "256.0 MiB");
  EXPECT_EQ(format_bytes(MiB - 1), "1.0 MiB");  // never "1024.0 KiB"
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(FormatBytes, IsUnderstoodByParseBytes) {
  for (std::uint64_t bytes : {KiB, 3 * MiB / 2, 256 * MiB, 5 * GiB, 1024 * GiB})
    EXPECT_EQ(parse_bytes(format_bytes(bytes)).value(), bytes);
}

TEST(RoundUp, GivesTheNextMultiple) {
  EXPECT_EQ(round_up(0, 4096), 0U);
  EXPECT_EQ(round_up(1, 4096), 4096U);
  EXPECT_EQ(round_up(4096, 4096), 4096U);
  EXPECT_EQ(round_up(4097, 4096), 8192U);
}

}  // namespace
}  // namespace perdure::base
