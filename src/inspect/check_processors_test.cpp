// The check of processors names the engine's processors and the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/check.hpp"

namespace perdure::inspect {
namespace {

using os::CpuSet;
using testing::HasSubstr;

os::CpuFacts bound_by_mpirun() {
  const CpuSet node = CpuSet::parse("0-7").value();
  return {{3}, node, node, {{"mpirun", true, false, true, node, {3}}}, false, 0};
}

TEST(CheckProcessors, NamesThemTheReasonAndWhatTheRankHas) {
  const Check check = judge_processors("auto", bound_by_mpirun());
  EXPECT_EQ(check.verdict, Verdict::ok);
  EXPECT_THAT(check.finding, HasSubstr("processors 0-7: mpirun"));
  EXPECT_THAT(check.finding, HasSubstr("this process is bound to 3"));
  EXPECT_EQ(check.remedy, "");
}

TEST(CheckProcessors, WarnsWhenTheEngineAndTheRankHaveOneToShare) {
  const Check inherited = judge_processors("inherit", bound_by_mpirun());
  EXPECT_EQ(inherited.verdict, Verdict::warning);
  EXPECT_THAT(inherited.finding, HasSubstr("processor 3"));
  EXPECT_THAT(inherited.remedy, HasSubstr("engine.cpus"));
  os::CpuFacts alone = bound_by_mpirun();
  alone.reachable = alone.own;
  const Check check = judge_processors("auto", alone);
  EXPECT_EQ(check.verdict, Verdict::warning);
  EXPECT_THAT(check.remedy, HasSubstr("one processor more"));
}

TEST(CheckProcessors, TakesAListThatCannotBeForAProblem) {
  const Check check = judge_processors("7-8", bound_by_mpirun());
  EXPECT_EQ(check.verdict, Verdict::problem);
  EXPECT_THAT(check.finding, HasSubstr("engine.cpus"));
  EXPECT_THAT(check.remedy, HasSubstr("0-7"));
}

TEST(CheckProcessors, SaysSoWhereTheSystemTellsNothing) {
  const Check check = judge_processors("auto", {});
  EXPECT_EQ(check.verdict, Verdict::ok);
  EXPECT_THAT(check.finding, HasSubstr("does not say"));
}

}  // namespace
}  // namespace perdure::inspect
