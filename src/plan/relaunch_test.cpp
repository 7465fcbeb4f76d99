#include "plan/relaunch.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace perdure::plan {
namespace {

using Kind = ProgramEnd::Kind;
constexpr ProgramEnd kFailed{Kind::exited, 3, 10, true, false};

TEST(Relaunch, EndsWithZeroWhenTheProgramSucceeds) {
  const auto decision = after_end({}, {}, {Kind::exited, 0, 1, false, false});
  EXPECT_EQ(decision.action, RelaunchAction::end);
  EXPECT_EQ(decision.reason, RelaunchReason::succeeded);
  EXPECT_EQ(decision.status, 0);
  EXPECT_EQ(decision.state.launches, 1u);
  EXPECT_EQ(decision.state.failures, 0u);
}

TEST(Relaunch, LaunchesAgainAfterEachFailureUntilRestartsAreUsedUpAndEndsWithTheProgramsStatus) {
  RelaunchState state;
  for (int i = 0; i < 3; ++i) {
    const auto decision = after_end({}, state, kFailed);
    ASSERT_EQ(decision.action, RelaunchAction::launch);
    state = decision.state;
  }
  const auto last = after_end({}, state, kFailed);
  EXPECT_EQ(last.action, RelaunchAction::end);
  EXPECT_EQ(last.reason, RelaunchReason::out_of_restarts);
  EXPECT_EQ(last.status, 3);
  EXPECT_EQ(last.state.launches, 4u);
  EXPECT_EQ(last.state.failures, 4u);
}

TEST(Relaunch, DoublesTheDelayUpToItsMaximum) {
  const RelaunchPolicy policy{100, 1, 60, 600};
  RelaunchState state;
  for (double expected : {1., 2., 4., 8., 16., 32., 60., 60.}) {
    const auto decision = after_end(policy, state, kFailed);
    EXPECT_DOUBLE_EQ(decision.delay_s, expected);
    state = decision.state;
  }
  state.failures_in_row = 1'000'000;
  EXPECT_DOUBLE_EQ(after_end({2'000'000, 1, 60, 600}, state, kFailed).delay_s, 60);
}

TEST(Relaunch, ALongRunStartsTheCountAfresh) {
  const RelaunchPolicy policy{2, 1, 60, 600};
  RelaunchState state{.launches = 2, .failures = 2, .failures_in_row = 2};
  const auto decision = after_end(policy, state, {Kind::exited, 1, 601, false, false});
  EXPECT_EQ(decision.action, RelaunchAction::launch);
  EXPECT_DOUBLE_EQ(decision.delay_s, 1);
  EXPECT_EQ(decision.state.failures_in_row, 1u);
  EXPECT_EQ(decision.state.failures, 3u);
}

TEST(Relaunch, DoesNotLaunchAgainAfterItWasAskedToStop) {
  const auto decision = after_end({}, {}, {Kind::killed, SIGTERM, 1, false, true});
  EXPECT_EQ(decision.action, RelaunchAction::end);
  EXPECT_EQ(decision.reason, RelaunchReason::stopped);
  EXPECT_EQ(decision.status, 128 + SIGTERM);
}

TEST(Relaunch, AProgramThatEndsWellWhenAskedToStopHasSucceeded) {
  EXPECT_EQ(after_end({}, {}, {Kind::exited, 0, 1, false, true}).reason, RelaunchReason::succeeded);
}

TEST(Relaunch, ReportsAKilledProgramAsTheShellDoes) {
  const auto decision = after_end({.restarts = 0}, {}, {Kind::killed, SIGKILL, 1, false, false});
  EXPECT_EQ(decision.status, 137);
  EXPECT_EQ(decision.action, RelaunchAction::end);
}

TEST(Relaunch, DoesNotTryAgainWhatCannotBeStarted) {
  const auto missing = after_end({}, {}, {Kind::not_started, ENOENT, 0, false, false});
  EXPECT_EQ(missing.action, RelaunchAction::end);
  EXPECT_EQ(missing.reason, RelaunchReason::cannot_start);
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(after_end({}, {}, {Kind::not_started, EACCES, 0, false, false}).status, 126);
}

TEST(Relaunch, CountsEarlyFailuresWithoutProgressAndForgetsThemAfterOneWithProgress) {
  const ProgramEnd early{Kind::exited, 1, 0.5, false, false};
  auto state = after_end({}, {}, early).state;
  state = after_end({}, state, early).state;
  EXPECT_EQ(state.early_failures_in_row, 2u);
  EXPECT_EQ(after_end({}, state, {Kind::exited, 1, 0.5, true, false}).state.early_failures_in_row, 0u);
  EXPECT_EQ(after_end({}, state, {Kind::exited, 1, 50, false, false}).state.early_failures_in_row, 0u);
}

TEST(Relaunch, NonsensicalBackOffsNeverBecomeNegative) {
  EXPECT_DOUBLE_EQ(after_end({3, -1, 60, 600}, {}, kFailed).delay_s, 0);
  EXPECT_DOUBLE_EQ(after_end({3, 1, -5, 600}, {}, kFailed).delay_s, 0);
}

TEST(StatusWithStore, IsTheProgramsUnlessThatIsGoodAndSomethingIsNotStored) {
  EXPECT_EQ(status_with_store(0, true), 0);
  EXPECT_EQ(status_with_store(0, false), 75);
  EXPECT_EQ(status_with_store(3, false), 3);
  EXPECT_EQ(status_with_store(128 + 15, false), 143);
  EXPECT_EQ(status_with_store(3, true), 3);
}

}  // namespace
}  // namespace perdure::plan
