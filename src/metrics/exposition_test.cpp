// Tests the text that Prometheus reads: its form, and refusals.
#include "metrics/exposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "metrics/definitions.hpp"
#include "metrics/utf8.hpp"

namespace perdure::metrics {
namespace {

using testing::HasSubstr;

Family gauge(const std::string& name, std::vector<Sample> samples) {
  return {name, Kind::gauge, "Help", std::move(samples)};
}
Family distribution(Distribution data) { return {"h", Kind::histogram, "Help", {{{}, 0, std::move(data)}}}; }

void expect_refused(const Family& family, const std::string& why) {
  const auto checked = check(family);
  ASSERT_FALSE(checked) << family.name;
  EXPECT_THAT(checked.error().text(), HasSubstr(why));
  EXPECT_THAT(checked.error().object, HasSubstr(family.name));
  EXPECT_FALSE(encode({family}));
}

TEST(Exposition, SaysWhatAFamilyIsOnceAndThenItsSamples) {
  const auto text = encode({{"b_total", Kind::counter, "Second", {{{{"tier", "file"}}, 2, {}}, {{}, 1, {}}}},
                            gauge("a", {{{}, 0.25, {}}}),
                            gauge("empty", {})});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(*text,
            "# HELP a Help\n# TYPE a gauge\na 0.25\n"
            "# HELP b_total Second\n# TYPE b_total counter\nb_total 1\nb_total{tier=\"file\"} 2\n");
}

TEST(Exposition, IsTheSameWhateverTheOrder) {
  const Sample one{{{"x", "1"}}, 1, {}}, two{{{"x", "2"}}, 2, {}};
  EXPECT_EQ(encode({gauge("a", {one, two}), gauge("b", {one})}).value(),
            encode({gauge("b", {one}), gauge("a", {two, one})}).value());
}

TEST(Exposition, EscapesLabelsAndHelp) {
  Family family = gauge("a", {{{{"x", "q\" b\\ n\n"}}, 1, {}}});
  family.help = "b\\ n\n q\"";
  EXPECT_EQ(encode({family}).value(), "# HELP a b\\\\ n\\n q\"\n# TYPE a gauge\na{x=\"q\\\" b\\\\ n\\n\"} 1\n");
}

TEST(Exposition, WritesNumbersThatCanBeReadBack) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto line = [](double value) {
    const std::string text = encode({gauge("a", {{{}, value, {}}})}).value();
    return text.substr(text.rfind("\na ") + 3);
  };
  EXPECT_EQ(line(infinity), "+Inf\n");
  EXPECT_EQ(line(-infinity), "-Inf\n");
  EXPECT_EQ(line(std::nan("")), "NaN\n");
  EXPECT_EQ(line(0), "0\n");
  EXPECT_EQ(line(-3), "-3\n");
  EXPECT_EQ(line(1234567890123), "1234567890123\n");
  for (const double value : {0.1, 1.0 / 3, 1e-300, 1e300, 123456.789}) EXPECT_EQ(std::stod(line(value)), value);
}

TEST(Exposition, CountsInABucketAllThatIsNotLarger) {
  Histogram histogram({0.1, 1});
  for (const double value : {0.05, 0.1, 0.5, 7.0, 8.0}) histogram.observe(value);
  EXPECT_EQ(encode({{"h_seconds", Kind::histogram, "Help", {{{{"a", "b"}}, 0, histogram.distribution()}}}}).value(),
            "# HELP h_seconds Help\n# TYPE h_seconds histogram\n"
            "h_seconds_bucket{a=\"b\",le=\"0.1\"} 2\nh_seconds_bucket{a=\"b\",le=\"1\"} 3\n"
            "h_seconds_bucket{a=\"b\",le=\"+Inf\"} 5\nh_seconds_sum{a=\"b\"} 15.65\nh_seconds_count{a=\"b\"} 5\n");
}

TEST(Exposition, RefusesWhatIsNoName) {
  for (const char* name : {"", "1a", "a-b", "a b", "a\n", "\xC3\xA4"})
    expect_refused(gauge(name, {}), "no name of a metric");
  for (const char* name : {"", "1a", "a-b", "__a"})
    expect_refused(gauge("a", {{{{name, "x"}}, 1, {}}}), "no name of a label");
}

TEST(Exposition, RefusesWhatPrometheusWouldMisunderstand) {
  expect_refused({"a", Kind::counter, "Help", {}}, "_total");
  expect_refused(gauge("a_total", {}), "_total");
  expect_refused({"a", Kind::gauge, "", {}}, "nothing says what it means");
  expect_refused({"a_total", Kind::counter, "Help", {{{}, -1, {}}}}, "below zero");
  expect_refused({"a_total", Kind::counter, "Help", {{{}, std::nan(""), {}}}}, "below zero");
  expect_refused(gauge("a", {{{}, 1, {}}, {{}, 2, {}}}), "the same labels");
  expect_refused(gauge("a", {{{{"x", "1"}, {"y", "2"}}, 1, {}}, {{{"y", "2"}, {"x", "1"}}, 2, {}}}), "the same labels");
  expect_refused(gauge("a", {{{{"x", "1"}, {"x", "2"}}, 1, {}}}), "twice");
  expect_refused({"h", Kind::histogram, "Help", {{{{"le", "1"}}, 0, Distribution{{}, {1}, 1}}}}, "'le'");
  expect_refused({"h", Kind::histogram, "Help", {{{}, 1, {}}}}, "buckets");
  expect_refused(gauge("a", {{{}, 1, Distribution{{}, {1}, 1}}}), "buckets");
  expect_refused(distribution({{1, 2}, {1, 2}, 1}), "one more bucket");
  expect_refused(distribution({{2, 1}, {1, 2, 3}, 1}), "ascending");
  expect_refused(distribution({{1, 1}, {1, 2, 3}, 1}), "ascending");
  expect_refused(distribution({{std::numeric_limits<double>::infinity()}, {1, 2}, 1}), "finite");
  EXPECT_FALSE(encode({gauge("a", {}), gauge("a", {})}));
}

TEST(Exposition, IsUtf8WhateverBytesALabelHas) {
  EXPECT_EQ(valid_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string unknown = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b\xC3"),
            "a" + unknown + "b" + unknown);
  EXPECT_EQ(valid_utf8("\xC0\x80"), unknown + unknown) << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), unknown + unknown + unknown) << "half a surrogate pair";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), unknown + unknown + unknown + unknown) << "beyond U+10FFFF";
  EXPECT_EQ(encode({gauge("a", {{{{"x", "\xFF"}}, 1, {}}})}).value(),
            "# HELP a Help\n# TYPE a gauge\na{x=\"" + unknown + "\"} 1\n");
}

TEST(Exposition, MergesFamiliesOfSeveralSources) {
  std::vector<Family> all;
  ASSERT_TRUE(merge(all, {gauge("a", {{{{"x", "1"}}, 1, {}}})}, {{"node", "n0"}}));
  ASSERT_TRUE(merge(all, {gauge("a", {{{{"x", "1"}}, 2, {}}}), gauge("b", {{{}, 3, {}}})}, {{"node", "n1"}}));
  EXPECT_EQ(encode(all).value(),
            "# HELP a Help\n# TYPE a gauge\na{node=\"n0\",x=\"1\"} 1\na{node=\"n1\",x=\"1\"} 2\n"
            "# HELP b Help\n# TYPE b gauge\nb{node=\"n1\"} 3\n");
}

TEST(Exposition, MergesNothingOfASourceThatContradicts) {
  std::vector<Family> all = {gauge("a", {{{}, 1, {}}})};
  const auto before = all;
  const auto merged = merge(all, {gauge("b", {}), distribution({{}, {1}, 1}), {"a", Kind::histogram, "Help", {}}}, {});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(all, before);
}

TEST(Definitions, FollowTheConventions) {
  for (const Definition& definition : definitions()) {
    Family family{definition.name, definition.kind, definition.help, {}};
    EXPECT_TRUE(check(family)) << check(family).error().text();
    const std::string_view name = definition.name, unit = definition.unit;
    EXPECT_TRUE(name.starts_with("perdure_")) << name;
    if (unit == "bytes" || unit == "seconds") {
      EXPECT_NE(name.find(unit), name.npos) << name;
    }
    EXPECT_EQ(find_definition(name), &definition) << name << " is there twice";
  }
  EXPECT_EQ(find_definition("perdure_nonesuch"), nullptr);
}

TEST(Definitions, WhatHasNoneCannotBeExported) {
  Collection collection;
  collection.add("perdure_nonesuch", 1.0);
  EXPECT_FALSE(encode(collection.take()));
}

}  // namespace
}  // namespace perdure::metrics
