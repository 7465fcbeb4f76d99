#include "results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"

namespace perdure::micro {
namespace {

using testing::HasSubstr;

Series two_sizes() {
  Series series{.benchmark = "pario", .mode = "new", .more = {{"ranks", 2}}, .sizes = {}};
  series.sizes.push_back({1024, 2048, {2e-3, 1e-3, 4e-3}, {{"jitter", 0.5}}});
  series.sizes.push_back({1048576, 2097152, {10e-3}, {{"per_rank", {1, 2}}}});
  return series;
}

Results some() {
  Results results("pario", {{"repetitions", 3}});
  results.add(two_sizes());
  return results;
}

TEST(Results, ARowHasMedianEndsRateAndModel) {
  const Json json = some().json();
  ASSERT_EQ(json["rows"].size(), 2U);
  const Json& row = json["rows"][0];
  EXPECT_EQ(row["benchmark"], "pario");
  EXPECT_EQ(row["mode"], "new");
  EXPECT_EQ(row["ranks"], 2);
  EXPECT_EQ(row["bytes"], 1024);
  EXPECT_EQ(row["time_s"], 2e-3);
  EXPECT_EQ(row["time_min_s"], 1e-3);
  EXPECT_EQ(row["time_max_s"], 4e-3);
  EXPECT_DOUBLE_EQ(row["bandwidth_bytes_per_s"], 2048 / 2e-3);
  EXPECT_EQ(row["jitter"], 0.5);
  EXPECT_NEAR(row["model_error"], 0, 1e-6);  // two points lie on the line
  EXPECT_NEAR(json["fit"]["pario new ranks 2"]["overhead_s"], 2e-3, 1e-4);
}

TEST(Results, CsvHasEveryScalarInOneColumnAndNoArrays) {
  const std::string csv = some().csv();
  EXPECT_THAT(csv, testing::StartsWith("benchmark,mode,ranks,bytes,time_s,"));
  EXPECT_THAT(csv, HasSubstr("\npario,new,2,1024,0.002,0.001,0.004,"));
  EXPECT_THAT(csv, HasSubstr("jitter"));
  EXPECT_THAT(csv, testing::Not(HasSubstr("per_rank")));
}

TEST(Results, TheTableShowsSizesModelAndNotes) {
  Results results = some();
  results.note("ratio", 2, "twice as fast");
  const std::string table = results.table();
  for (const char* part : {"pario, repetitions 3", "pario new ranks 2", "1 KiB", "1 MiB", "B_max", "twice as fast"})
    EXPECT_THAT(table, HasSubstr(part));
  EXPECT_EQ(results.json()["ratio"], 2);
}

TEST(Results, OneSizeHasRowsAndTheReasonInPlaceOfAModel) {
  Series one = two_sizes();
  one.sizes.resize(1);
  Results results("pario", Json::object());
  results.add(one);
  EXPECT_FALSE(results.json()["rows"][0].contains("model_error"));
  EXPECT_THAT(results.table(), HasSubstr("not fitted"));
}

TEST(Results, ThePlotHasMeasurementAndModel) {
  const std::string svg = some().svg();
  EXPECT_THAT(svg, HasSubstr("pario new ranks 2, model"));
  EXPECT_THAT(svg, HasSubstr("<polyline"));
}

}  // namespace
}  // namespace perdure::micro
