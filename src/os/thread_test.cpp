#include "os/thread.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::os {
namespace {

using testing::HasSubstr;

TEST(Thread, RunsItsBodyAndIsWaitedFor) {
  std::atomic<int> ran = 0;
  {
    auto thread = Thread::start(
        "test", [&ran] { ++ran; }, [](const base::Error&) { return true; });
    ASSERT_TRUE(thread) << thread.error().text();
    EXPECT_TRUE(thread->joinable());
  }
  EXPECT_EQ(ran, 1);
}

TEST(Thread, OneThatTheSystemRefusesIsAnErrorThatNamesTheLimits) {
  FaultRules rules(*parse_fault_rules("thread:janitor:EAGAIN:2:1"));
  const test_support::InstalledHooks installed(rules);
  const auto start = [](const char* name) {
    return Thread::start(
        name, [] {}, [](const base::Error&) { return false; });
  };
  EXPECT_TRUE(start("janitor"));
  const auto refused = start("janitor");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_THAT(refused.error().text(), HasSubstr("thread 'janitor'"));
  EXPECT_THAT(refused.error().text(), HasSubstr("ulimit -u"));
  EXPECT_THAT(refused.error().text(), HasSubstr("pids.max"));
  EXPECT_TRUE(start("clock"));
  EXPECT_TRUE(start("janitor"));
}

// Otherwise the process would end.
TEST(Thread, WhatItsBodyThrowsIsTold) {
  for (const bool standard : {true, false}) {
    base::Error told;
    {
      const auto thread = Thread::start(
          "test",
          [standard] {
            if (standard) throw std::bad_alloc();
            throw 7;
          },
          [&told](const base::Error& why) {
            told = why;
            return false;
          });
      ASSERT_TRUE(thread);
    }
    EXPECT_EQ(told.code, standard ? PERDURE_NO_SPACE : PERDURE_INTERNAL) << told.text();
    EXPECT_THAT(told.object, HasSubstr("test"));
  }
}

TEST(Thread, ALoopGoesOnAfterThat) {
  std::atomic<int> ran = 0, told = 0;
  {
    const auto loop = Thread::start(
        "loop",
        [&ran] {
          if (++ran < 4) throw std::bad_alloc();
        },
        [&told](const base::Error&) { return ++told > 0; });
    ASSERT_TRUE(loop);
  }
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(told, 3);
}

// Memory is refused to the reporter as it was to the body. A loop that ended there would leave its callers waiting, and
// nobody would hear of the end of one piece of work.
TEST(Thread, WhatCannotBeToldIsToldAgain) {
  std::atomic<int> ran = 0, told = 0, heard = 0;
  const auto hardly = [&](bool again) {
    return [&, again](const base::Error& why) {
      if (++told % 4 != 0) throw std::bad_alloc();
      heard += why.code == PERDURE_NO_SPACE ? 1 : 0;
      return again;
    };
  };
  {
    const auto loop = Thread::start(
        "loop",
        [&ran] {
          if (++ran < 3) throw std::bad_alloc();
        },
        hardly(true));
    ASSERT_TRUE(loop);
  }
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(heard, 2);
  {
    const auto once = Thread::start(
        "once", [] { throw std::bad_alloc(); }, hardly(false));
    ASSERT_TRUE(once);
  }
  EXPECT_EQ(told, 12);
  EXPECT_EQ(heard, 3);
}

TEST(Thread, ABodyMayBeRefusedItsMemoryByRule) {
  FaultRules rules(*parse_fault_rules("thread_body::ENOMEM:1:2"));
  const test_support::InstalledHooks installed(rules);
  std::atomic<int> ran = 0, told = 0;
  {
    const auto thread = Thread::start(
        "test", [&ran] { ++ran; }, [&told](const base::Error&) { return ++told > 0; });
    ASSERT_TRUE(thread);
  }
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(told, 2);
}

TEST(Threads, AreAllWaitedForAndCounted) {
  std::atomic<int> ran = 0;
  Threads threads;
  EXPECT_TRUE(threads.empty());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(threads.start(
        "test", [&ran] { ++ran; }, [](const base::Error&) { return false; }));
  EXPECT_EQ(threads.size(), 5U);
  threads.join();
  EXPECT_EQ(ran, 5);
  EXPECT_TRUE(threads.empty());
  threads.join();
}

// The other threads wait to be told to end. An exception past their owner would wait for them for ever.
TEST(Threads, OneThatCannotBeBegunOrKeptIsAnErrorAndTheOthersStay) {
  FaultRules rules(*parse_fault_rules("thread:second:EAGAIN"));
  const test_support::InstalledHooks installed(rules);
  std::atomic<bool> told = false;
  Threads threads;
  const auto start = [&](std::string_view name) {
    return threads.start(
        name, [&told] { told.wait(false); }, [](const base::Error&) { return false; });
  };
  ASSERT_TRUE(start("first"));
  EXPECT_EQ(start("second").error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(start(std::string_view("x", std::string().max_size() + 1)).error().code, PERDURE_INTERNAL)
      << "what is thrown on the way";
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_TRUE(start("third"));
  told = true;
  told.notify_all();
  threads.join();
}

TEST(Thread, WorkAsideIsWaitedForAndFailsWithIt) {
  int done = 0;
  EXPECT_TRUE(run_aside("test", [&done] { done = 1; }));
  EXPECT_EQ(done, 1);
  EXPECT_EQ(run_aside("test", [] { throw std::bad_alloc(); }).error().code, PERDURE_NO_SPACE);
  FaultRules rules(*parse_fault_rules("thread::EAGAIN"));
  const test_support::InstalledHooks installed(rules);
  EXPECT_EQ(run_aside("test", [&done] { done = 2; }).error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace perdure::os
