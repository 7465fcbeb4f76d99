// The waited time leaves out the time in which the process was stopped.
#include "capi_mpi/waited_time.hpp"

#include <gtest/gtest.h>

namespace perdure::capi_mpi {
namespace {

TEST(WaitedTimes, LeaveOutTimeInWhichTheProcessWasStopped) {
  using namespace std::chrono_literals;
  const WaitedTime::Clock::time_point begin{};
  WaitedTime time(begin);
  EXPECT_EQ(time.at(begin + 1ms), 1ms);
  EXPECT_EQ(time.at(begin + 500ms), 500ms);
  EXPECT_EQ(time.at(begin + 1h), 1500ms) << "a job that was suspended for an hour";
  EXPECT_EQ(time.at(begin + 1h + 200ms), 1700ms);
}

}  // namespace
}  // namespace perdure::capi_mpi
