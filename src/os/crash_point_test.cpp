#include "os/crash_point.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

namespace perdure::os {
namespace {

constexpr const char* kVariable = "PERDURE_TEST_CRASH";

// Runs `child` in a process of its own and returns its wait status. The child ends with status 0 unless it is killed.
int status_of(const std::function<void()>& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    child();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

void expect_killed(int status) {
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

void expect_ended(int status) { EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status; }

TEST(CrashPoint, DoesNothingUnlessArmed) {
  expect_ended(status_of([] { crash_point(CrashPoint::flush_begin); }));
}

TEST(CrashPoint, KillsAtTheHitThatWasNamedAndNotBefore) {
  const auto reach = [](int times) {
    return [times] {
      arm_crash_point(CrashPoint::flush_chunk, 3);
      for (int i = 0; i < times; ++i) {
        crash_point(CrashPoint::flush_chunk);
        crash_point(CrashPoint::flush_begin);
      }
    };
  };
  expect_ended(status_of(reach(2)));
  expect_killed(status_of(reach(3)));
}

TEST(CrashPoint, IsArmedByTheEnvironmentForEveryNameInTheTable) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(CrashPoint::count); ++i) {
    expect_killed(status_of([i] {
      ::setenv(kVariable, std::string(crash_point_name(static_cast<CrashPoint>(i))).c_str(), 1);
      if (!arm_crash_point_from_environment()) ::_exit(1);
      crash_point(static_cast<CrashPoint>(i));
    }));
  }
}

TEST(CrashPoint, CountsOnWhenASecondHandleReadsTheEnvironment) {
  expect_killed(status_of([] {
    ::setenv(kVariable, "retire_done:2", 1);
    for (int handle = 0; handle < 2; ++handle) {
      if (!arm_crash_point_from_environment()) ::_exit(1);
      crash_point(CrashPoint::retire_done);
    }
  }));
}

TEST(CrashPoint, RefusesWhatTheEnvironmentCannotMean) {
  for (const char* value : {"no_such_point", "flush_begin:", "flush_begin:0", "flush_begin:-1", "flush_begin:x",
                            "flush_begin:1:2", ":1", "count"}) {
    ::setenv(kVariable, value, 1);
    const base::Status failed = arm_crash_point_from_environment();
    ASSERT_FALSE(failed) << value;
    EXPECT_EQ(failed.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(failed.error().object, kVariable);
  }
  ::unsetenv(kVariable);
  EXPECT_TRUE(arm_crash_point_from_environment());
  EXPECT_EQ(armed_crash_point.load(), -1);
}

TEST(CrashPoint, TableNamesEachPointOnceAndWhoRunsIt) {
  std::set<std::string_view> names;
  for (const CrashPointInfo& info : kCrashPoints) {
    names.insert(info.name);
    EXPECT_TRUE(info.role == "rank" || info.role == "engine" || info.role == "redundancy") << info.name;
  }
  EXPECT_EQ(names.size(), kCrashPoints.size());
}

}  // namespace
}  // namespace perdure::os
