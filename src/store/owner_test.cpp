// The record of an owner comes back as it was written, and damage is found.
#include "store/owner.hpp"

#include <gmock/gmock.h>

#include "base/sealed_json.hpp"

namespace perdure::store {
namespace {

using testing::HasSubstr;

const Owner kOwner{"job \"x\"",    "re=100", "run-1", "n1/boot/pid:[1]", 4711, 12345, "alice", 1'000'000'000,
                   30'000'000'000, 7,        true};

TEST(Owner, ComesBackAsItWasWritten) {
  const auto read = decode_owner(encode(kOwner), "here");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, kOwner);
}

TEST(Owner, SaysWhoWhereAndSinceWhen) {
  EXPECT_EQ(kOwner.text(), "job 'job \"x\"' of alice, process 4711 on host n1, since 1970-01-01 00:00:01 UTC");
}

// A record that cannot be read must not count as no owner.
TEST(Owner, WhatIsDamagedOrHostileIsAnErrorThatNamesTheFile) {
  const std::string good = encode(kOwner);
  for (std::size_t cut = 0; cut + 2 < good.size(); cut += 7)
    EXPECT_FALSE(decode_owner(good.substr(0, cut), "here")) << good.substr(0, cut);
  const auto changed = [&](const std::string& from, const std::string& to) {
    base::Json record = base::unseal(good, "here").value();
    std::string text = record.dump(2);
    text.replace(text.find(from), from.size(), to);
    const auto read = decode_owner(text, "here");
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().text();
  };
  EXPECT_THAT(changed("4711", "-1"), HasSubstr("here: field 'process'"));
  EXPECT_THAT(changed("4711", "4294967296"), HasSubstr("field 'process'"));
  EXPECT_THAT(changed("30000000000", "99999999999999999"), HasSubstr("field 'lease_ns'")) << "nobody waits for years";
  EXPECT_THAT(changed("true", "1"), HasSubstr("field 'ended'"));
  EXPECT_THAT(changed("\"alice\"", "null"), HasSubstr("field 'user'"));
  EXPECT_THAT(changed("\"format\": 1", "\"format\": 2"), HasSubstr("newer Perdure"));
}

TEST(Owner, WithOneFlippedBitIsAnErrorOrTheSame) {
  const std::string good = encode(kOwner);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto read = decode_owner(bad, "here");
    if (read) {
      EXPECT_EQ(*read, kOwner) << bad;
      continue;
    }
    EXPECT_EQ(read.error().code, PERDURE_CORRUPT) << bad;
  }
}

}  // namespace
}  // namespace perdure::store
