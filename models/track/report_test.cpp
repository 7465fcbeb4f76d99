// Tests that reports survive encoding, that other text is refused, and that excluded data sets give their reason.
#include "track/report.hpp"

#include <gtest/gtest.h>

namespace perdure::track {
namespace {

Report sample() {
  Report report;
  report.name = "run";
  report.state_bytes = 1000;
  report.loops = {{"flux", 0, 5, {10, 1}, {20, 2}, true, true}, {"ask", 1, 4, {1, 1}, {2, 1}, false, false}};
  report.sets = {{"u", 100, 80, 20, "some reason"}};
  report.step = {{"flux", 20}, {"ask", std::nullopt}};
  return report;
}

TEST(PlaceReports, ComeBackAsTheyWere) {
  const auto again = parse_report(to_json(sample()));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, sample());
}

TEST(PlaceReports, ThatAreNoneAreRefused) {
  const std::string good = to_json(sample());
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2)})
    EXPECT_FALSE(parse_report(text)) << text;
  std::string other = good;
  other.replace(other.find("\"times\": 5"), 10, "\"times\": -");
  EXPECT_FALSE(parse_report(other));
  other = good;
  other.replace(other.find("\"perdure_track\": 1"), 18, "\"perdure_track\": 9");
  ASSERT_FALSE(parse_report(other));
  EXPECT_NE(parse_report(other).error().find("another format"), std::string::npos);
}

TEST(PlaceReports, SayWhyADataSetIsKeptOut) {
  const Box all{1, {0}, {10}}, part{1, {0}, {4}};
  const std::vector<DataSet> sets{{"never", all, 8, false},
                                  {"gone", all, 8, false},
                                  {"part", all, 8, false},
                                  {"whole", all, 8, false},
                                  {"work", all, 8, true}};
  std::vector<BoxSet> written(5), saved(5);
  for (std::size_t i = 1; i < 5; ++i) written[i].add(all);
  saved[2].add(part);
  saved[3].add(all);
  const auto said = explained(sets, written, saved);
  ASSERT_EQ(said.size(), 5U);
  EXPECT_EQ(said[0].why, "written by no loop but at first, which every run repeats");
  EXPECT_EQ(said[1].why, "written again before it is read");
  EXPECT_EQ(said[2].why, "the rest is written again before it is read");
  EXPECT_EQ(said[2].saved_bytes, 32U);
  EXPECT_EQ(said[3].why, "read before it is written");
  EXPECT_EQ(said[4].why, "scratch");
}

}  // namespace
}  // namespace perdure::track
