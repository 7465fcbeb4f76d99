// perdure diff shows which regions differ, how much and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/regions_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class DiffTest : public testing::Test {
 protected:
  Ran diff(std::vector<std::string> words) {
    words.insert(words.begin(), "diff");
    words.insert(words.end(), {"--store", written_.path()});
    return run_verb(words);
  }
  reader::WrittenStore written_;
};

TEST_F(DiffTest, IsGoodWhereEverythingIsEqualWhoeverWroteIt) {
  write_plate(written_, "a", 1);
  write_plate(written_, "b", 2);
  write_plate(written_, "c", 1, {.ranks = 3});
  const Ran same = diff({"a@1", "b@2"});
  EXPECT_EQ(same.status, kGood) << same.err;
  EXPECT_EQ(same.out, "3 regions equal, 0 different\n");
  const Ran arrays = diff({"a@1", "c@1", "temperature", "particles"});
  EXPECT_EQ(arrays.status, kGood) << arrays.out << arrays.err;
  const Ran all = diff({"a@1", "c@1"});
  EXPECT_EQ(all.status, kBad);
  EXPECT_THAT(all.out, HasSubstr("rank 2: only in c version 1"));
}

TEST_F(DiffTest, SaysHowManyElementsDifferAndWhere) {
  write_plate(written_, "a", 1);
  write_plate(written_, "b", 2, {.changed = 0.5, .more = true});
  const Ran ran = diff({"a", "b"});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_EQ(ran.out,
            "REGION           ELEMENTS  DIFFERENT  FIRST AT  LARGEST  AT      NOTE\n"
            "5 'temperature'        24          1  [4, 1]        0.5  [4, 1]\n"
            "9 'pressure'            -          -  -               -  -       only in b version 2\n"
            "2 regions equal, 2 different\n");
  const auto json = diff({"a", "b", "--json"}).json();
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["regions"][1]["largest_at"], base::Json::array({4, 1}));
  EXPECT_EQ(json["regions"][3]["only_in"], "b");
  EXPECT_EQ(diff({"a", "b", "particles"}).status, kGood);
  EXPECT_EQ(diff({"a", "b", "pressure"}).status, kBad);
  EXPECT_EQ(diff({"b", "a", "9"}).status, kBad);
}

TEST_F(DiffTest, SaysWhatCannotBeCompared) {
  write_plate(written_, "a", 1);
  write_plate(written_, "type", 1, {.type = "i8"});
  write_plate(written_, "rows", 1, {.rows = 7});
  write_plate(written_, "count", 1, {.local_count = 11});
  write_plate(written_, "nan", 1, {.changed = std::nan("")});
  EXPECT_THAT(diff({"a", "type"}).out, HasSubstr("type f8 in a version 1, i8 in type version 1"));
  EXPECT_THAT(diff({"a", "rows"}).out, HasSubstr("extents [0:6, 0:4] in a version 1, [0:7, 0:4] in rows version 1"));
  EXPECT_THAT(diff({"a", "count"}).out,
              HasSubstr("rank 0: 10 elements of 4 bytes in a version 1, 11 of 4 in count version 1"));
  EXPECT_THAT(diff({"a", "nan"}).out, HasSubstr("1 with NaN on one side"));
}

/// A version of one rank that has these numbers, each as a local region.
struct Own {
  std::int32_t id = 0;
  std::string name, type;
  std::vector<std::int64_t> numbers;
};
void write_own(reader::WrittenStore& written, const std::string& name, const std::vector<Own>& regions) {
  std::vector<reader::WrittenRank> ranks(1);
  for (const Own& region : regions) {
    segment::RegionEntry entry{region.id, 8, region.numbers.size()};
    segment::set_label(entry, {region.name, "", ""});
    if (!region.type.empty()) entry.attributes["type"] = region.type;
    const auto bytes = std::as_bytes(std::span(region.numbers));
    ranks[0].add(entry, {bytes.begin(), bytes.end()});
  }
  ranks[0].cut(100);
  written.write({name, 1, {1'700'000'000'000'000'001, 5}}, ranks, 1, {});
}

TEST_F(DiffTest, GoesByNamesWhateverTheNumbersAre) {
  write_own(written_, "then", {{0, "x", "", {1, 2}}, {1, "y", "", {3, 4}}});
  write_own(written_, "now", {{0, "y", "", {3, 4}}, {1, "x", "", {1, 2}}});
  EXPECT_EQ(diff({"then", "now"}).out, "2 regions equal, 0 different\n");
  EXPECT_EQ(diff({"then", "now", "x"}).status, kGood);
  write_own(written_, "half", {{0, "", "", {3, 4}}, {1, "x", "", {1, 2}}});
  const Ran half = diff({"then", "half"});
  EXPECT_EQ(half.status, kBad) << "nothing is compared twice: " << half.out;
  EXPECT_THAT(half.out, HasSubstr("only in then version 1"));
  EXPECT_THAT(half.out, HasSubstr("only in half version 1"));
}

TEST_F(DiffTest, ComparesTypesOfMemoryWhereBothKnowThem) {
  write_own(written_, "real", {{0, "x", "f8", {1, 2}}});
  write_own(written_, "whole", {{0, "x", "i8", {1, 2}}});
  write_own(written_, "bytes", {{0, "x", "", {1, 5}}});
  EXPECT_THAT(diff({"real", "whole"}).out, HasSubstr("type f8 in real version 1, i8 in whole version 1"));
  const auto json = diff({"bytes", "whole", "--json"}).json();
  EXPECT_EQ(json["regions"][0]["largest"], 3.0) << "one side knows that they are numbers";
}

TEST_F(DiffTest, ThatCannotReadSaysSo) {
  write_plate(written_, "a", 1);
  write_plate(written_, "b", 1);
  EXPECT_EQ(diff({"a", "c"}).status, kCannot);
  const Ran unknown = diff({"a", "b", "speed"});
  EXPECT_EQ(unknown.status, kCannot);
  EXPECT_THAT(unknown.err, HasSubstr("its regions are 3, 5 'temperature', 8 'particles'"));
  flip_byte(written_.file({"b", 1, {1'700'000'000'000'000'001, 5}}, 1, 2), 4096);
  const Ran damaged = diff({"a", "b"});
  EXPECT_EQ(damaged.status, kCannot) << "what cannot be read is not different";
  EXPECT_THAT(damaged.err, HasSubstr("chunk 0 of rank 1"));
  reader::WrittenStore other;
  write_plate(other, "b", 1, {.changed = 1});
  EXPECT_EQ(diff({"a", "b", "temperature", "--other-store", other.path()}).status, kBad);
}

}  // namespace
}  // namespace perdure::cli
