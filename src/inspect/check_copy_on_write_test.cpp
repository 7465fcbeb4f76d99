#include <gtest/gtest.h>

#include "inspect/check.hpp"

namespace perdure::inspect {
namespace {

TEST(CheckCopyOnWrite, WarnsOfWhatTheChosenModeCannotHave) {
  const base::Result<os::WriteReach> none = base::fail(PERDURE_UNSUPPORTED, "userfaultfd", "it is not there", "get it");
  const base::Result<os::WriteReach> program = os::WriteReach::program, all = os::WriteReach::all;
  for (const std::string mode : {"cow", "auto"}) {
    EXPECT_EQ(judge_copy_on_write(mode, none).verdict, Verdict::warning);
    EXPECT_EQ(judge_copy_on_write(mode, none).remedy, "get it");
    EXPECT_EQ(judge_copy_on_write(mode, program).verdict, Verdict::warning);
    EXPECT_NE(judge_copy_on_write(mode, program).finding.find("EFAULT"), std::string::npos);
    EXPECT_EQ(judge_copy_on_write(mode, all).verdict, Verdict::ok);
  }
  for (const auto& reach : {none, program, all}) {
    const Check check = judge_copy_on_write("copy", reach);
    EXPECT_EQ(check.verdict, Verdict::ok);
    EXPECT_TRUE(check.remedy.empty());
    EXPECT_FALSE(check.finding.empty());
  }
}

TEST(CheckCopyOnWrite, SaysWhatIsHere) {
  config::Config config;
  const auto checks = check_copy_on_write(config);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::ok) << "the default asks for nothing";
}

}  // namespace
}  // namespace perdure::inspect
