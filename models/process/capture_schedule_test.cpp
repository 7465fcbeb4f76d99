#include "process/capture_schedule.hpp"

#include <gtest/gtest.h>

namespace perdure::process {
namespace {

using Action = CaptureSchedule::Action;
constexpr double kNever = CaptureSchedule::kNever;

void expect_wait(const CaptureSchedule& schedule, double now_s, double until_s) {
  EXPECT_EQ(schedule.next(now_s).action, Action::wait);
  EXPECT_EQ(schedule.next(now_s).until_s, until_s);
}

TEST(CaptureSchedules, ComeRoundFromTheBeginningOfEachCapture) {
  CaptureSchedule schedule(600, 100);
  expect_wait(schedule, 100, 700);
  expect_wait(schedule, 699, 700);
  EXPECT_EQ(schedule.next(700).action, Action::capture);
  schedule.captured(701, 711, true);
  expect_wait(schedule, 711, 1301);
}

TEST(CaptureSchedules, LeaveTheProgramHalfOfTheTime) {
  CaptureSchedule schedule(10, 0);
  schedule.captured(10, 40, true);
  expect_wait(schedule, 40, 70);
}

TEST(CaptureSchedules, WithoutATimeWaitForSomebodyWhoAsks) {
  CaptureSchedule schedule(kNever, 5);
  expect_wait(schedule, 1e9, kNever);
  schedule.ask();
  schedule.ask();
  EXPECT_EQ(schedule.next(6).action, Action::capture);
  schedule.captured(6, 7, true);
  expect_wait(schedule, 7, kNever);
  schedule.ask();
  schedule.captured(8, 9, false);
  expect_wait(schedule, 9, kNever);
}

TEST(CaptureSchedules, TryAgainAfterAFailureLaterAndLater) {
  CaptureSchedule schedule(100, 0);
  schedule.captured(100, 101, false);
  expect_wait(schedule, 101, 111);
  schedule.captured(111, 112, false);
  expect_wait(schedule, 112, 132);
  for (int i = 0; i < 40; ++i) schedule.captured(200, 201, false);
  expect_wait(schedule, 201, 301);
  schedule.captured(301, 302, true);
  expect_wait(schedule, 302, 401);
  schedule.captured(401, 402, false);
  expect_wait(schedule, 402, 412);
}

TEST(CaptureSchedules, CaptureBeforeTheEnd) {
  CaptureSchedule schedule(600, 0);
  schedule.ask_for_end(50);
  schedule.ask_for_end(50.5);
  EXPECT_TRUE(schedule.is_to_end());
  EXPECT_EQ(schedule.next(51).action, Action::capture_and_end) << "those that come together are one";
}

TEST(CaptureSchedules, GiveUpWhenNoneSucceedsBeforeTheEnd) {
  CaptureSchedule schedule(600, 0);
  schedule.ask_for_end(50);
  schedule.captured(50, 51, false);
  expect_wait(schedule, 51, 53);
  EXPECT_EQ(schedule.next(53).action, Action::capture_and_end);
  schedule.captured(53, 54, false);
  EXPECT_EQ(schedule.next(56).action, Action::capture_and_end);
  schedule.captured(56, 57, false);
  EXPECT_EQ(schedule.next(57).action, Action::end);
}

TEST(CaptureSchedules, EndAtOnceForWhoAsksTwice) {
  CaptureSchedule schedule(kNever, 0);
  schedule.ask_for_end(10);
  schedule.ask_for_end(11);
  EXPECT_EQ(schedule.next(11).action, Action::end);
}

TEST(CaptureSchedules, DoNotTakeACaptureThatBeganBeforeForTheLastOne) {
  CaptureSchedule schedule(10, 0);
  EXPECT_EQ(schedule.next(10).action, Action::capture);
  schedule.ask_for_end(11);
  schedule.captured(10, 12, true);
  EXPECT_EQ(schedule.next(12).action, Action::capture_and_end);
}

}  // namespace
}  // namespace perdure::process
