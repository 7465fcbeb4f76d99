#include "outcome.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace perdure::redundancy_bench {
namespace {

Times times_of_three() {
  Times times{{1, 1, 1}, {10, 20, 40}, {5, 5, 5}, {}};
  times.schemes.push_back({"single", {1, 2, 4}, {}, {0, 0, 0}});
  times.schemes.push_back({"xor", {1, 4, 4}, {10, 40, 40}, {2, 3, 7}});
  return times;
}

TEST(RedundancyOutcome, RatiosAreTakenWithinARepetitionBeforeTheirMedian) {
  const Json j = to_json(times_of_three());
  const Json& one = j["schemes"][1];
  EXPECT_EQ(one["blocking_s"], 4.0);
  EXPECT_EQ(one["blocking_over_single"], 1.0);  // the median of 1, 2, 1; a ratio of medians would give 2
  EXPECT_EQ(one["level_node_over_plain_write"], 1.0);
  EXPECT_EQ(one["level_node_over_plain_sends"], 8.0);
  EXPECT_EQ(one["background_cpu_s"], 3.0);
}

TEST(RedundancyOutcome, SingleReachesNoLevelNodeAndIsNotComparedWithItself) {
  const Json j = to_json(times_of_three());
  EXPECT_FALSE(j["schemes"][0].contains("level_node_s"));
  EXPECT_FALSE(j["schemes"][0].contains("blocking_over_single"));
}

TEST(RedundancyOutcome, WithoutSingleNothingIsComparedWithIt) {
  Times times = times_of_three();
  times.schemes.erase(times.schemes.begin());
  EXPECT_FALSE(to_json(times)["schemes"][0].contains("blocking_over_single"));
}

TEST(RedundancyOutcome, TheTableHasARowForEveryScheme) {
  const std::string text = table(to_json(times_of_three()));
  EXPECT_NE(text.find("\n  single"), std::string::npos);
  EXPECT_NE(text.find("\n  xor "), std::string::npos);
  EXPECT_NE(text.find("plain write to fresh files 20000.00 ms"), std::string::npos);
}

}  // namespace
}  // namespace perdure::redundancy_bench
