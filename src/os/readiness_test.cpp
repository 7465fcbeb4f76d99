#include "os/readiness.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "support/eventually.hpp"

namespace perdure::os {
namespace {

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) return;
    here = Fd(ends[0]);
    there = Fd(ends[1]);
  }
  void say() const { EXPECT_EQ(::write(there.get(), "x", 1), 1); }
  Fd here, there;
};

class Ready : public testing::Test {
 protected:
  std::vector<std::uint64_t> readable(std::optional<std::uint64_t> timeout_ns = 0) {
    std::vector<std::uint64_t> numbers;
    const auto events = readiness.wait(timeout_ns).value();
    for (const auto& event : events)
      if (event.readable) numbers.push_back(event.number);
    return numbers;
  }
  Readiness readiness;
  Pair a, b;
};

TEST_F(Ready, TellsWhoCanBeReadInTheOrderInWhichTheyBecameSo) {
  ASSERT_TRUE(readiness.add(a.here, 1));
  ASSERT_TRUE(readiness.add(b.here, 2));
  EXPECT_TRUE(readable().empty());
  b.say();
  a.say();
  EXPECT_EQ(readable(std::nullopt), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(readable().size(), 2u) << "as long as it was not read";
}

TEST_F(Ready, ASignalIsNoError) {
  struct sigaction noticed {};
  struct sigaction before {};
  noticed.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &noticed, &before), 0);
  ASSERT_TRUE(readiness.add(a.here, 1));
  std::atomic<bool> done{false};
  std::thread waiting([&] {
    const auto events = readiness.wait(std::nullopt);
    EXPECT_TRUE(events && events->empty()) << "whoever waits looks again";
    done = true;
  });
  EXPECT_TRUE(test_support::eventually("a signal ends the wait", [&] {
    if (!done) ::pthread_kill(waiting.native_handle(), SIGUSR1);
    return done.load();
  }));
  waiting.join();
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(Ready, WhoseOtherEndIsGoneCanBeRead) {
  ASSERT_TRUE(readiness.add(a.here, 7));
  a.there.reset();
  EXPECT_EQ(readable(std::nullopt), std::vector<std::uint64_t>{7});
}

TEST_F(Ready, TellsWhoCanBeWrittenOnlyIfAsked) {
  ASSERT_TRUE(readiness.add(a.here, 3));
  EXPECT_TRUE(readiness.wait(0)->empty());
  readiness.change(a.here, 3, Readiness::Interest::read_and_write);
  const auto events = readiness.wait(std::nullopt);
  ASSERT_TRUE(events && events->size() == 1);
  EXPECT_TRUE(events->front().writable);
  EXPECT_FALSE(events->front().readable);
  readiness.change(a.here, 3, Readiness::Interest::read);
  EXPECT_TRUE(readiness.wait(0)->empty());
}

TEST_F(Ready, WhatWasRemovedSaysNothingMoreEvenWhileADuplicateIsOpen) {
  ASSERT_TRUE(readiness.add(a.here, 1));
  const Fd duplicate(::dup(a.here.get()));
  a.say();
  readiness.remove(a.here);
  a.here.reset();
  EXPECT_TRUE(readable().empty());
}

TEST_F(Ready, ADescriptorThatIsNoneIsAnError) { EXPECT_FALSE(readiness.add(Fd(), 1)); }

TEST_F(Ready, WaitsNoLongerThanItIsTold) { EXPECT_TRUE(readable(1'000'000).empty()); }

}  // namespace
}  // namespace perdure::os
