// kill -9 of `perdure capture --pre-copy`, or of the guard process, while pages are copied. The
// program goes on, nothing of it is followed any more, and nothing that was made for this is left in it.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"
#include "os/crash_point.hpp"

namespace perdure::cli {
namespace {

/// "precopy_round:2": the second round.
std::vector<std::string> precopy_points() {
  std::vector<std::string> points;
  for (const auto& point : os::kToolCrashPoints)
    if (point.name.starts_with("precopy_")) points.emplace_back(point.name);
  for (const char* again : {"precopy_round:2", "precopy_copied:2"}) points.emplace_back(again);
  return points;
}

/// The kernel keeps these for whoever follows writes: flags of mappings (uw: write protected, um: missing pages).
bool is_followed_by_anybody(pid_t process) {
  std::istringstream maps(content_of("/proc/" + std::to_string(process) + "/smaps"));
  for (std::string line; std::getline(maps, line);)
    if (line.starts_with("VmFlags:") &&
        (line.find(" uw") != std::string::npos || line.find(" um") != std::string::npos))
      return true;
  return false;
}

class KilledPreCopy : public testing::TestWithParam<std::string> {
 protected:
  /// False: the kernel cannot follow, and no round is made.
  bool follows() {
    const Ran ran = capture({});
    EXPECT_EQ(ran.status, kGood) << ran.err;
    return ran.status == kGood && ran.json()["rounds"].get<int>() > 0;
  }
  Ran capture(const std::vector<std::string>& variables) {
    return Perdure(place_, {"capture", patient_.number(), "--pre-copy", "--json"}, variables).wait();
  }
  void expect_it_is_as_it_was() {
    Orphans::wait_for_others({patient_.process()});
    EXPECT_EQ(view_of(patient_.process()), before_);
    EXPECT_FALSE(is_followed_by_anybody(patient_.process()));
    patient_.works();
  }
  void expect_that_it_can_be_captured_and_brought_back() {
    const Ran again = capture({});
    ASSERT_EQ(again.status, kGood) << again.err;
    EXPECT_GT(again.json()["rounds"].get<int>(), 0);
    expect_it_is_as_it_was();
    EXPECT_EQ(patient_.end(), Patient::kStatus);
    EXPECT_EQ(resumed(place_, {"patient@" + again.json()["version"].dump()}).status, Patient::kStatus);
  }
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
  std::string before_ = view_of(patient_.process());
};

TEST_P(KilledPreCopy, LeavesNothingInTheProgram) {
  if (!follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  const Ran killed = capture({"PERDURE_TEST_CRASH=" + GetParam()});
  EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
  expect_it_is_as_it_was();
  expect_that_it_can_be_captured_and_brought_back();
}

/// The only child of `process`.
pid_t guard_of(pid_t process) {
  const std::string number = std::to_string(process);
  return std::atoi(content_of("/proc/" + number + "/task/" + number + "/children").c_str());
}

TEST_P(KilledPreCopy, OfItsGuardLeavesNothingInTheProgram) {
  if (!follows()) GTEST_SKIP() << "this kernel cannot follow what a process writes";
  Perdure perdure(place_, {"capture", patient_.number(), "--pre-copy"},
                  {"PERDURE_TEST_CRASH=" + GetParam(), "PERDURE_TEST_CRASH_STOPS=1"});
  ASSERT_TRUE(eventually("it stops where it is told to", [&] { return stands_still(perdure.process()); }));
  const pid_t guard = guard_of(perdure.process());
  ASSERT_GT(guard, 0);
  const bool follows_now = GetParam() != "precopy_to_follow" && GetParam() != "precopy_released";
  EXPECT_EQ(is_followed_by_anybody(patient_.process()), follows_now) << "this is how one sees it";
  ::kill(guard, SIGKILL);
  ::kill(perdure.process(), SIGCONT);
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, kCannot) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("the process that holds the captured one has ended"));
  expect_it_is_as_it_was();
  expect_that_it_can_be_captured_and_brought_back();
}

INSTANTIATE_TEST_SUITE_P(Points, KilledPreCopy, testing::ValuesIn(precopy_points()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace perdure::cli
