#include "process/posix_timers.hpp"

#include <gmock/gmock.h>
#include <signal.h>

namespace perdure::process {
namespace {

TEST(PosixTimers, AreReadFromTheirFile) {
  const auto timers = parse_timers(
      "ID: 7\nsignal: 34/00007fff86e452a8\nnotify: signal/tid.2634\nClockID: 1\n"
      "ID: 0\nsignal: 14/0000000000000003\nnotify: signal/pid.2634\nClockID: 0\n"
      "ID: 2\nsignal: 0/0000000000000000\nnotify: none/pid.2634\nClockID: 1\n");
  ASSERT_TRUE(timers);
  ASSERT_EQ(timers->size(), 3U);
  EXPECT_EQ((*timers)[0], (PosixTimer{0, 0, SIGEV_SIGNAL, 14, 3, 0, {}}));
  EXPECT_EQ((*timers)[1], (PosixTimer{2, 1, SIGEV_NONE, 0, 0, 0, {}}));
  EXPECT_EQ((*timers)[2], (PosixTimer{7, 1, SIGEV_THREAD_ID, 34, 0x7fff86e452a8, 2634, {}}));
  EXPECT_TRUE(parse_timers("")->empty());
}

TEST(PosixTimers, ThatAreNotUnderstoodAreRefused) {
  for (const char* text : {"signal: 1/2\n", "ID: x\n", "ID: 1\nsignal: 3\n", "ID: 1\nnotify: smoke/pid.3\n",
                           "ID: 1\nnotify: signal/tid.x\n", "ID: 1\nClockID: y\n", "no colon\n"})
    EXPECT_FALSE(parse_timers(text)) << text;
}

TEST(PosixTimers, SayWhatIsWrong) {
  EXPECT_EQ((PosixTimer{0, 0, SIGEV_SIGNAL, 14, 0, 0, {}}.wrong()), "");
  EXPECT_NE((PosixTimer{-1, 0, SIGEV_SIGNAL, 14, 0, 0, {}}.wrong()), "");
  EXPECT_NE((PosixTimer{0, 0, SIGEV_SIGNAL, 65, 0, 0, {}}.wrong()), "");
  EXPECT_NE((PosixTimer{0, 0, SIGEV_SIGNAL, 14, 0, 0, {0, 0, 0, 1'000'000'000}}.wrong()), "");
}

}  // namespace
}  // namespace perdure::process
