#include "plan/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace perdure::plan {
namespace {

const PipelineStep kReplicate{"replicate", Level::process, Level::node}, kFlush{"flush", Level::process, Level::store},
    kRetire{"retire", Level::store}, kNotify{"notify", Level::store}, kSend{"send", Level::node};

std::string refusal(const std::vector<PipelineStep>& steps) {
  const auto checked = check_pipeline(steps);
  return checked ? "" : checked.error().text();
}

TEST(Pipeline, TakesStepsAfterThoseThatGiveWhatTheyNeed) {
  EXPECT_EQ(refusal({kReplicate, kFlush, kRetire}), "");
  EXPECT_EQ(refusal({kFlush, kReplicate, kRetire}), "");
  EXPECT_EQ(refusal({kFlush, kRetire}), "");
  EXPECT_EQ(refusal({kFlush}), "") << "everything is kept";
  EXPECT_EQ(refusal({kReplicate, kSend, kFlush, kNotify, kRetire}), "");
  EXPECT_EQ(refusal({kFlush, kSend}), "") << "what the store has survives the loss of a node, too";
}

TEST(Pipeline, SaysWhatIsWrongAndWhereAStepBelongs) {
  EXPECT_NE(refusal({kReplicate, kRetire}).find("name the step flush"), std::string::npos);
  EXPECT_NE(refusal({}).find("name the step flush"), std::string::npos);
  EXPECT_NE(refusal({kRetire, kFlush}).find("retire needs level store, which no step before it gives"),
            std::string::npos);
  EXPECT_NE(refusal({kRetire, kFlush}).find("put it after flush"), std::string::npos);
  EXPECT_NE(refusal({kSend, kReplicate, kFlush}).find("put it after replicate"), std::string::npos);
  EXPECT_NE(refusal({kFlush, kNotify, kFlush}).find("flush twice"), std::string::npos);
}

// An order is accepted exactly if no step stands before the first that gives the level it needs.
TEST(Pipeline, AgreesWithTheRuleForEveryOrderOfFiveSteps) {
  std::vector<PipelineStep> steps{kReplicate, kFlush, kRetire, kNotify, kSend};
  const auto by_name = [](const PipelineStep& a, const PipelineStep& b) { return a.name < b.name; };
  std::sort(steps.begin(), steps.end(), by_name);
  int taken = 0, orders = 0;
  do {
    std::vector<std::string> names;
    for (const auto& step : steps) names.push_back(step.name);
    const bool good = comes_before(names, "flush", "retire") && comes_before(names, "flush", "notify") &&
                      (comes_before(names, "flush", "send") || comes_before(names, "replicate", "send"));
    EXPECT_EQ(refusal(steps).empty(), good);
    taken += good;
    ++orders;
  } while (std::next_permutation(steps.begin(), steps.end(), by_name));
  EXPECT_EQ(orders, 120);
  EXPECT_GT(taken, 0);
}

TEST(Pipeline, OneStepComesBeforeAnotherOnlyIfBothAreThere) {
  EXPECT_TRUE(comes_before({"replicate", "flush"}, "replicate", "flush"));
  EXPECT_FALSE(comes_before({"flush", "replicate"}, "replicate", "flush"));
  EXPECT_FALSE(comes_before({"flush"}, "replicate", "flush"));
  EXPECT_FALSE(comes_before({"replicate"}, "replicate", "flush"));
}

}  // namespace
}  // namespace perdure::plan
