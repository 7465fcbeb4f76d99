#include "os/cpu_set.hpp"

#include <gtest/gtest.h>

namespace perdure::os {
namespace {

CpuSet set(std::string_view text) {
  auto parsed = CpuSet::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().text());
  return parsed.value_or(CpuSet());
}

TEST(CpuSet, ReadsWhatTheKernelAndPeopleWrite) {
  EXPECT_EQ(set("0"), (CpuSet{0}));
  EXPECT_EQ(set("0-3,8"), (CpuSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(set(" 8 , 0-1 \n"), (CpuSet{0, 1, 8}));
  EXPECT_EQ(set("1,1-2,2"), (CpuSet{1, 2}));
  EXPECT_TRUE(set(" \n").empty());
}

TEST(CpuSet, WritesRangesThatItReadsAgain) {
  for (const char* text :
       {"", "0", "0-1", "3,5,7-63", "63-64", "63-128", "64-127", "1-62", "0-4095", "1,3,5,4095", "65535"})
    EXPECT_EQ(set(text).text(), text);
  EXPECT_EQ(set("5,4,3").text(), "3-5");
}

TEST(CpuSet, RefusesWhatIsNoListOfProcessors) {
  for (const char* text : {"a", "1,", ",1", "1,,2", "-1", "1-", "3-1", "1-2-3", "0x3", "65536", "0-4294967295",
                           "99999999999999999999", "0-3:1/2", "1 2", "+1", "1;2"})
    EXPECT_FALSE(CpuSet::parse(text)) << text;
}

TEST(CpuSet, ShortensWhatItRefuses) {
  const auto refused = CpuSet::parse(std::string(1'000'000, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().text().size(), 300U);
}

TEST(CpuSet, CombinesSetsOfDifferentSizes) {
  const CpuSet few = set("0-3"), many = set("2-4095");
  EXPECT_EQ((few & many).text(), "2-3");
  EXPECT_EQ((many & few).text(), "2-3");
  EXPECT_EQ((few | many).text(), "0-4095");
  EXPECT_EQ((few - many).text(), "0-1");
  EXPECT_EQ((many - few).text(), "4-4095");
  EXPECT_TRUE((few - few).empty());
  EXPECT_EQ(many & CpuSet(), CpuSet());
}

TEST(CpuSet, CountsAndFinds) {
  EXPECT_EQ(set("1,3-4,4095").count(), 4U);
  EXPECT_EQ(CpuSet::all().count(), CpuSet::kMost);
  EXPECT_TRUE(set("4095").contains(4095));
  EXPECT_FALSE(set("4095").contains(4094));
  EXPECT_FALSE(set("1").contains(1'000'000));
}

TEST(CpuSet, TakesTheKernelsWords) {
  const std::vector<unsigned long> words = {0b101, 0, 1, 0, 0};
  EXPECT_EQ(CpuSet::from_words(words).text(), "0,2,128");
  EXPECT_EQ(CpuSet::from_words(words), set("0,2,128")) << "zeros behind the last one make no difference";
}

}  // namespace
}  // namespace perdure::os
