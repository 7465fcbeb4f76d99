#include "goals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace perdure::studies {
namespace {

using testing::HasSubstr;

Row row(const char* policy, unsigned writers, double local_phase_s) {
  Row row;
  row.policy = policy;
  row.writers = writers;
  row.local_phase_s = local_phase_s;
  row.flush_completion_s = 2 * local_phase_s;
  return row;
}

TEST(Goals, AreMetAtTheirBound) {
  EXPECT_TRUE(at_least("a", 2, 2).met());
  EXPECT_FALSE(at_least("a", 2, 1.99).met());
  EXPECT_TRUE(at_most("a", 2, 2).met());
  EXPECT_FALSE(at_most("a", 2, 2.01).met());
  EXPECT_TRUE(claim("a", 2, 1).met()) << "what the paper claims is no goal";
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(at_least("a", 2, none).met() || at_most("a", 2, none).met()) << "all runs failed";
}

TEST(Goals, SayWhatWasAskedAndWhetherItIsMet) {
  const std::string text = goals_text({at_least("speed", 2, 1.5), at_most("loss", 1.1, 1), claim("gain", 3, 2)});
  EXPECT_THAT(text, HasSubstr("NOT met  1.500  (asked: >= 2)  speed"));
  EXPECT_THAT(text, HasSubstr("met      1.000  (asked: <= 1.1)  loss"));
  EXPECT_THAT(text, HasSubstr("2.000  (paper: 3)  gain"));
  EXPECT_THAT(goals_text({at_most("loss", 1, std::numeric_limits<double>::quiet_NaN())}), HasSubstr("no figure"));
  EXPECT_THAT(goals_json({at_least("speed", 2, 1.5)}), HasSubstr("\"met\": false"));
}

TEST(Goals, JudgeAdaptiveByItsWorstCell) {
  const std::vector<Row> rows{row("adaptive", 1, 10), row("hybrid-opt", 1, 20), row("adaptive", 2, 11),
                              row("hybrid-opt", 2, 10)};
  const auto goals = adaptive_goals(rows);
  ASSERT_EQ(goals.size(), 2u) << "no oracle, nothing to compare with";
  EXPECT_DOUBLE_EQ(goals[0].value, 1.1);
  EXPECT_FALSE(goals[0].met());
  EXPECT_THAT(goals[0].what, HasSubstr("2 writers"));
}

TEST(Medians, AreOfTheRepetitionsOfOneCell) {
  const std::vector<Row> rows{row("a", 1, 1), row("a", 1, 9), row("a", 1, 2), row("a", 2, 7), row("b", 1, 4)};
  const Medians medians(rows);
  const Cell one = cell_of(rows.front());
  EXPECT_EQ(medians.cells().size(), 2u);
  EXPECT_EQ(medians.policies().size(), 2u);
  EXPECT_DOUBLE_EQ(medians.of(one, "a", local_phase), 2);
  EXPECT_DOUBLE_EQ(medians.ratio(one, "b", "a", local_phase), 2);
  EXPECT_FALSE(medians.has(one, "c"));
  EXPECT_DOUBLE_EQ(median({1, 3}), 2);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

}  // namespace
}  // namespace perdure::studies
