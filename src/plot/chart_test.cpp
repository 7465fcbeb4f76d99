#include "plot/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "plot/axis.hpp"

namespace perdure::plot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Axis, PlacesItsRangeOnTheUnitInterval) {
  const Axis linear({2, 10}, false, false);
  EXPECT_DOUBLE_EQ(linear.place(2), 0);
  EXPECT_DOUBLE_EQ(linear.place(6), 0.5);
  EXPECT_DOUBLE_EQ(linear.place(10), 1);
  EXPECT_FALSE(linear.shows(1.9));
  const Axis logarithmic({1, 256}, true, false);
  EXPECT_DOUBLE_EQ(logarithmic.place(16), 0.5);
  EXPECT_THAT(logarithmic.ticks(), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256));
  EXPECT_DOUBLE_EQ(Axis({5, 7}, false, true).place(0), 0);
}

TEST(Axis, TicksAreFewAndRoundWhateverTheRange) {
  for (double high = 1e-9; high < 1e16; high *= 3.7) {
    for (bool logarithmic : {false, true}) {
      const auto ticks = Axis({high / 50, high}, logarithmic, true).ticks();
      EXPECT_GE(ticks.size(), 3u) << high << logarithmic;
      EXPECT_LE(ticks.size(), 12u) << high << logarithmic;
    }
  }
  EXPECT_EQ(tick_text(0.25), "0.25");
  EXPECT_EQ(tick_text(1500), "1500");
  EXPECT_EQ(tick_text(16384), "16.38k");
  EXPECT_EQ(tick_text(7e8), "700M");
  EXPECT_EQ(tick_text(2e10), "20G");
}

TEST(Chart, DrawsEverySeriesWithItsLegend) {
  Chart chart{"Title", "writers", "seconds", true, false, {}};
  chart.series = {{"a", {{1, 1}, {2, 4}, {4, 9}}, true, true}, {"b", {{1, 2}, {4, 2}}, true, false}};
  const std::string text = svg(chart);
  EXPECT_EQ(count(text, "<polyline"), 2u);
  EXPECT_EQ(count(text, "<circle"), 3u);
  for (const char* part : {"Title", "writers", "seconds", ">a<", ">b<"}) EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Chart, NoTextOrFigureBreaksTheDocument) {
  Chart chart{"<script>&\"\x01", "x", "y", true, true, {}};
  chart.series = {{"<b>", {{0, 1}, {-1, 1}, {1, std::nan("")}, {2, HUGE_VAL}, {3, 5}}, true, true}};
  const std::string text = svg(chart);
  EXPECT_EQ(count(text, "<circle"), 1u) << "only one point can be shown on logarithmic axes";
  EXPECT_THAT(text, HasSubstr("&lt;script&gt;&amp;&quot; "));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(Chart, SaysWhenThereIsNothingToShow) {
  EXPECT_THAT(svg({}), HasSubstr("nothing to show"));
  Chart hopeless{"", "", "", true, true, {{"zero", {{0, 0}}, true, true}}};
  EXPECT_THAT(svg(hopeless), HasSubstr("nothing to show"));
}

}  // namespace
}  // namespace perdure::plot
