// perdure cat, and perdure show --regions, show the regions and their elements.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/open_content.hpp"
#include "cli/regions_testing.hpp"
#include "cli/value_text.hpp"
#include "support/sanitized.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string bytes_in(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
  }
  return text;
}

TEST(ShowRegions, FoldsRanksAndNamesWhatThereIs) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7);
  const Ran ran = run_verb({"show", "heat@7", "--regions", "--store", written.path()});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(ran.out,
            "heat version 7: 3 regions of 2 ranks, 296 B\n"
            "REGION  NAME         KIND        TYPE                  EXTENTS  UNIT  RANKS  BYTES\n"
            "3       -            local       4 bytes               10 each  -         2   80 B\n"
            "5       temperature  array       f8                    [6, 4]   K         2  192 B\n"
            "8       particles    replicated  {position:2f4,id:i4}  [2]      -         1   24 B\n");
  const auto json = run_verb({"show", "heat", "--regions", "--json", "--store", written.path()}).json();
  EXPECT_EQ(json["regions"][1]["description"], "of the plate");
  EXPECT_EQ(json["regions"][1]["extents"], base::Json::array({6, 4}));
  EXPECT_EQ(json["regions"][0]["most_count"], 10);
  EXPECT_FALSE(json["regions"][0].contains("statistics"));
}

TEST(ShowRegions, WithStatisticsSaysWhatNumbersAreLike) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7, {.changed = std::nan("")});
  const Ran ran = run_verb({"show", "heat@7", "--regions", "--statistics", "--store", written.path()});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out,
              testing::ContainsRegex("temperature +array +f8 +\\[6, 4\\] +K +2 +192 B +0.25 +53.25 +26.1196 +1\n"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("\n +position +-1 +1.5 +0 +0\n +id +0 +1 +0.5 +0\n"));
  const auto json =
      run_verb({"show", "heat@7", "--regions", "--statistics", "--json", "--store", written.path()}).json();
  EXPECT_EQ(json["regions"][1]["statistics"][0]["values"], 24);
  EXPECT_EQ(json["regions"][1]["statistics"][0]["least"], 0.25);
  EXPECT_EQ(json["regions"][0]["statistics"], base::Json::array());
  EXPECT_EQ(run_verb({"show", "heat@7", "--statistics", "--store", written.path()}).status, kUsage);
  EXPECT_EQ(run_verb({"show", "heat@7", "--regions", "--all", "--store", written.path()}).status, kUsage);
}

TEST(ShowRegions, OfAnIncompleteVersionIsAnError) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7, {}, {1});
  const Ran ran = run_verb({"show", "heat@7", "--regions", "--store", written.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_EQ(ran.err,
            "perdure: heat version 7: segment 0 of its 2 is missing (incomplete); perdure ls shows which versions "
            "are complete\n");
  EXPECT_THAT(run_verb({"show", "heat@8", "--regions", "--store", written.path()}).err,
              HasSubstr("(mismatch); its only version is 7"));
}

TEST(Cat, PrintsRowsWithTheIndexOfTheirFirstElement) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7);
  const auto cat = [&](const std::string& region) {
    return run_verb({"cat", "heat@7", region, "--store", written.path()});
  };
  EXPECT_EQ(cat("temperature[2:4, 1:]").out,
            "region 5 'temperature': f8 in K, [2:4, 1:4] of [6, 4]\n"
            "[2, 1]  21.25  22.25  23.25\n"
            "[3, 1]  31.25  32.25  33.25\n");
  EXPECT_EQ(cat("5[-1, -1]").out, "region 5 'temperature': f8 in K, [5:6, 3:4] of [6, 4]\n[5, 3]  53.25\n");
  EXPECT_EQ(cat("particles").out,
            "region 8 'particles': {position:2f4,id:i4}, [0:2] of [2]\n"
            "[0]  {position: [0.5, -1], id: 0}\n"
            "[1]  {position: [1.5, -1], id: 1}\n");
  EXPECT_EQ(cat("temperature[3:3]").out, "region 5 'temperature': f8 in K, [3:3, 0:4] of [6, 4]\n");
  const Ran local = run_verb({"cat", "heat@7", "3[0:9]", "--rank", "1", "--store", written.path()});
  EXPECT_EQ(local.out,
            "region 3 of rank 1: 4 bytes, [0:9] of [10]\n"
            "[0]  02020202  02020202  02020202  02020202  02020202  02020202  02020202  02020202\n"
            "[8]  02020202\n");
  const Ran some = run_verb({"cat", "heat@7", "temperature", "--most", "5", "--store", written.path()});
  EXPECT_EQ(some.out,
            "region 5 'temperature': f8 in K, [0:6, 0:4] of [6, 4]\n"
            "[0, 0]  0.25  1.25  2.25  3.25\n"
            "[1, 0]  10.25\n"
            "19 of 24 elements are not shown: --most N shows more, --raw FILE writes all\n");
}

TEST(Cat, OfALongRowHasEightOnALine) {
  reader::WrittenStore written;
  constexpr unsigned kColumns = test_support::unless_sanitized(40'000U, 4'000U);
  write_plate(written, "heat", 7, {.rows = 4, .columns = kColumns});
  const Ran ran = run_verb({"cat", "heat@7", "temperature[1:3]", "--store", written.path()});
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1 + 2 * kColumns / 8);
  EXPECT_THAT(ran.out, HasSubstr(fmt::format("\n[2, {}]  {}.25  {}.25  {}.25", kColumns - 8, kColumns + 12,
                                             kColumns + 13, kColumns + 14)));
}

TEST(Cat, WritesJsonAndBytes) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7, {.changed = INFINITY});
  const auto json = run_verb({"cat", "heat@7", "temperature[4, :2]", "--json", "--store", written.path()}).json();
  EXPECT_EQ(json["begin"], base::Json::array({4, 0}));
  EXPECT_EQ(json["end"], base::Json::array({5, 2}));
  EXPECT_EQ(json["values"], base::Json::array({40.25, "inf"}));
  const auto particles = run_verb({"cat", "heat@7", "particles[1]", "--json", "--store", written.path()}).json();
  EXPECT_EQ(particles["values"][0], base::Json({{"position", {1.5, -1.0}}, {"id", 1}}));
  test_support::TemporaryDirectory directory;
  const std::string path = directory / "raw";
  EXPECT_EQ(run_verb({"cat", "heat@7", "temperature[0:2]", "--raw", path, "--store", written.path()}).out, "");
  std::string expected;
  for (std::uint64_t i = 0; i < 2; ++i)
    for (std::uint64_t j = 0; j < 4; ++j) {
      const double value = plate(i, j);
      expected.append(reinterpret_cast<const char*>(&value), 8);
    }
  EXPECT_EQ(bytes_in(path), expected);
  EXPECT_EQ(run_verb({"cat", "heat@7", "temperature[0:2]", "--raw", "-", "--store", written.path()}).out, expected);
  EXPECT_EQ(run_verb({"cat", "heat@7", "5", "--raw", directory / "no/raw", "--store", written.path()}).status, kCannot);
  EXPECT_EQ(run_verb({"cat", "heat@7", "5", "--raw", "/dev/full", "--store", written.path()}).status, kCannot);
  EXPECT_EQ(run_verb({"cat", "heat@7", "5", "--raw", path, "--json", "--store", written.path()}).status, kUsage);
}

TEST(Cat, SaysWhatIsWrongAndWhatThereIs) {
  reader::WrittenStore written;
  write_plate(written, "heat", 7);
  const auto error = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> words = {"cat", "heat@7"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--store", written.path()});
    const Ran ran = run_verb(words);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_EQ(error({"temprature"}, kCannot),
            "perdure: heat version 7, region 'temprature': it has no such region (not-found); its regions are 3, 5 "
            "'temperature', 8 'particles'\n");
  EXPECT_THAT(error({"3"}, kUsage),
              HasSubstr("each rank has its own (invalid-argument); --rank N chooses one; those that have it are 0-1"));
  EXPECT_THAT(error({"3", "--rank", "9"}, kCannot), HasSubstr("rank 9 has no such region"));
  EXPECT_THAT(error({"5", "--rank", "0"}, kUsage), HasSubstr("--rank means nothing"));
  EXPECT_THAT(error({"5[0:3"}, kUsage), HasSubstr("the bracket is not closed"));
  EXPECT_THAT(error({"5[0:7]"}, kUsage), HasSubstr("'0:7' is not a range of dimension 0; its extents are [6, 4]"));
  flip_byte(written.file({"heat", 7, {1'700'000'000'000'000'007, 5}}, 0, 2), 4096);
  const Ran damaged = run_verb({"cat", "heat@7", "temperature", "--store", written.path()});
  EXPECT_EQ(damaged.status, kCannot);
  EXPECT_THAT(damaged.err,
              AllOf(HasSubstr("0000-of-0002"), HasSubstr("chunk 0 of rank 0"), HasSubstr("region 5 'temperature'")));
}

TEST(Boxes, AreWrittenAsRangesOfEachDimension) {
  const auto whole = array::whole(std::array<std::uint64_t, 3>{10, 20, 30}, 1, "test").value();
  const auto box = [&](const std::string& text) {
    const auto parsed = parse_box(text, whole, "x");
    return parsed ? parsed->text() : parsed.error().cause;
  };
  EXPECT_EQ(box(""), "[0:10, 0:20, 0:30]");
  EXPECT_EQ(box("  "), "[0:10, 0:20, 0:30]");
  EXPECT_EQ(box("3"), "[3:4, 0:20, 0:30]");
  EXPECT_EQ(box(", 5:7,-3:"), "[0:10, 5:7, 27:30]");
  EXPECT_EQ(box(":-1 , : ,: 4"), "[0:9, 0:20, 0:4]");
  EXPECT_EQ(box("10:10"), "[10:10, 0:20, 0:30]");
  for (const char* wrong : {"10", "-11", "5:3", "a", "1:2:3", "0:11", "-0", "--1", "99999999999999999999", "+1", "1.5"})
    EXPECT_THAT(box(wrong), HasSubstr("is not a range of dimension 0; its extents are [10, 20, 30]")) << wrong;
  EXPECT_THAT(box("0,0,0,0"), HasSubstr("too many dimensions"));
  const auto nothing = array::whole(std::array<std::uint64_t, 1>{0}, 1, "test").value();
  EXPECT_FALSE(parse_box("0", nothing, "x"));
  EXPECT_TRUE(parse_box(":", nothing, "x"));
  const auto scalar = array::whole(std::span<const std::uint64_t>(), 1, "test").value();
  EXPECT_TRUE(parse_box("", scalar, "x"));
  EXPECT_FALSE(parse_box("0", scalar, "x"));
}

TEST(Elements, AreTextsThatBringTheSameNumberBack) {
  const auto text = [](const char* type, const auto& value) {
    return element_text(array::ElementType::parse(type, "test").value(), std::as_bytes(std::span(&value, 1)));
  };
  EXPECT_EQ(text("f8", 0.1), "0.1");
  EXPECT_EQ(text("f4", 0.1F), "0.1");
  EXPECT_EQ(text("f8", 1e300), "1e+300");
  EXPECT_EQ(text("f8", std::nan("")), "nan");
  EXPECT_EQ(text("i1", std::int8_t{-128}), "-128");
  EXPECT_EQ(text("u8", ~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(text("c8", std::array<float, 2>{1, -2.5F}), "1-2.5i");
  EXPECT_EQ(text("c16", std::array<double, 2>{1, 2}), "1+2i");
  EXPECT_EQ(text("b1", std::uint8_t{1}), "1");
  EXPECT_EQ(text("v3", std::array<std::uint8_t, 3>{0, 171, 255}), "00abff");
  EXPECT_EQ(element_json(array::ElementType::parse("{a:u1,v1,b:2b1}", "test").value(),
                         std::as_bytes(std::span("\x05\x09\x00\x01", 4))),
            base::Json({{"a", 5}, {"b", {false, true}}}));
}

}  // namespace
}  // namespace perdure::cli
