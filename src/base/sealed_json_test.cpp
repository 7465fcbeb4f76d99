// Tests that records show whether one of their bits was flipped.
#include "base/sealed_json.hpp"

#include <gtest/gtest.h>

namespace perdure::base {
namespace {

const Json kRecord = {{"format", 1}, {"job", "a \"b\" \xc3\xa9"}, {"beat", 7}, {"ended", true}, {"list", {1, 2, 3}}};

TEST(SealedJson, ComesBackAsItWas) {
  const auto read = unseal(seal(kRecord), "here");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, kRecord);
  EXPECT_TRUE(unseal(seal(Json::object()), "here"));
  EXPECT_TRUE(unseal(seal({{"name", "\xff\xfe"}}), "here")) << "bytes that are no text";
}

// A flip in white space, or in the name of the check, does not change the record's content.
TEST(SealedJson, NeverSaysSomethingElseAfterOneFlippedBit) {
  const std::string good = seal(kRecord);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    auto read = unseal(bad, "/store/app/.owner");
    if (read) {
      for (const auto& [key, value] : kRecord.items()) ASSERT_EQ(read->at(key), value) << bad;
      continue;
    }
    ++refused;
    EXPECT_EQ(read.error().code, PERDURE_CORRUPT);
    EXPECT_EQ(read.error().object, "/store/app/.owner");
  }
  EXPECT_GT(refused, good.size() * 4);
}

TEST(SealedJson, OfEarlierReleasesHasNoCheck) { EXPECT_EQ(unseal(kRecord.dump(), "here").value(), kRecord); }

TEST(SealedJson, ThatIsNoObjectIsRefused) {
  for (const char* text : {"", "{", "[]", "3", "\"x\""}) EXPECT_FALSE(unseal(text, "here")) << text;
}

}  // namespace
}  // namespace perdure::base
