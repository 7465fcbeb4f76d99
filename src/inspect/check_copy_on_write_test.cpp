// The check of copy on write judges the chosen mode.
#include <gtest/gtest.h>

#include "inspect/check.hpp"

namespace perdure::inspect {
namespace {

TEST(CheckCopyOnWrite, WarnsOfWhatTheChosenModeCannotHave) {
  const base::Result<os::WriteReach> none = base::fail(PERDURE_UNSUPPORTED, "userfaultfd", "it is not there", "get it");
  const base::Result<os::WriteReach> program = os::WriteReach::program, all = os::WriteReach::all;
  for (const std::string mode : {"cow", "auto"}) {
    EXPECT_EQ(judge_copy_on_write(mode, none, "always").verdict, Verdict::warning);
    EXPECT_EQ(judge_copy_on_write(mode, none, "always").remedy, "get it");
    EXPECT_EQ(judge_copy_on_write(mode, program, "always").verdict, Verdict::warning);
    EXPECT_NE(judge_copy_on_write(mode, program, "always").finding.find("EFAULT"), std::string::npos);
    EXPECT_EQ(judge_copy_on_write(mode, all, "always").verdict, Verdict::ok);
  }
  for (const auto& reach : {none, program, all}) {
    const Check check = judge_copy_on_write("copy", reach, "madvise");
    EXPECT_EQ(check.verdict, Verdict::ok);
    EXPECT_TRUE(check.remedy.empty());
    EXPECT_FALSE(check.finding.empty());
  }
}

TEST(CheckCopyOnWrite, SaysWhereHugePagesHaveToBeAskedFor) {
  const base::Result<os::WriteReach> all = os::WriteReach::all;
  for (const std::string setting : {"madvise", "never"}) {
    const Check check = judge_copy_on_write("cow", all, setting);
    EXPECT_EQ(check.verdict, Verdict::ok);
    EXPECT_NE(check.finding.find("enabled: " + setting), std::string::npos) << check.finding;
  }
  for (const std::string setting : {"always", ""})
    EXPECT_EQ(judge_copy_on_write("cow", all, setting).finding.find("huge"), std::string::npos);
  EXPECT_EQ(judge_copy_on_write("copy", all, "never").finding.find("huge"), std::string::npos);
}

TEST(CheckCopyOnWrite, SaysWhatIsHere) {
  config::Config config;
  const auto checks = check_copy_on_write(config);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::ok) << "the default asks for nothing";
}

}  // namespace
}  // namespace perdure::inspect
