// Captures timers near their expiration: just before, during the reading, and just after. In any case the program must
// be notified once, and periodic timers must continue.
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include <random>

#include "os/system.hpp"
#include "process/alone_testing.hpp"
#include "process/read_thread.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"

namespace perdure::process {
namespace {

constexpr std::int64_t kUntilDue_ns = 15'000'000;
constexpr int kToldOnce = 7, kNotTold = 1, kToldTwice = 2, kNoTimer = 3, kStopped = 4;

timespec in_ns(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

sigset_t blocked_signal(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// Returns false if no signal came in this time.
bool takes(const sigset_t& set, std::int64_t within_ns) {
  const timespec within = in_ns(within_ns);
  int taken = -1;
  do taken = ::sigtimedwait(&set, nullptr, &within);
  while (taken < 0 && errno == EINTR);
  return taken > 0;
}

/// Waits for a signal that must come once. `left` returns whether the timer still runs.
int told_once(const sigset_t& set, const std::function<bool()>& left) {
  constexpr std::int64_t kLong_ns = 5'000'000'000;
  if (!takes(set, kLong_ns)) return kNotTold;
  while (left()) ::usleep(500);  // wait: a second expiry would come with it
  return takes(set, 0) ? kToldTwice : kToldOnce;
}

/// A child reports when its timer is due, and checks it after the resume.
struct Timing {
  std::atomic<std::int64_t>* due_ns;
  std::string over;
  void runs() const {
    *due_ns = static_cast<std::int64_t>(os::monotonic_ns()) + kUntilDue_ns;
    wait_until_over(over);
  }
};
using Waits = std::function<int(const Timing&)>;

int alarm_once(const Timing& timing) {
  const sigset_t set = blocked_signal(SIGALRM);
  const itimerval once{{0, 0}, {0, kUntilDue_ns / 1000}};
  if (::setitimer(ITIMER_REAL, &once, nullptr) != 0) return kNoTimer;
  timing.runs();
  return told_once(set, [] {
    itimerval now{};
    return ::getitimer(ITIMER_REAL, &now) == 0 && (now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0);
  });
}

int timer_once(const Timing& timing, int how) {
  const int signal = SIGRTMIN + 1;
  const sigset_t set = blocked_signal(signal);
  sigevent event{};
  event.sigev_notify = how;
  event.sigev_signo = signal;
  event._sigev_un._tid = ::gettid();  // NOLINT: the C library has no name for it
  int timer = 0;
  const itimerspec once{{0, 0}, in_ns(kUntilDue_ns)};
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::syscall(SYS_timer_settime, timer, 0, &once, nullptr) != 0)
    return kNoTimer;
  timing.runs();
  return told_once(set, [timer] {
    itimerspec now{};
    return ::syscall(SYS_timer_gettime, timer, &now) == 0 && (now.it_value.tv_sec != 0 || now.it_value.tv_nsec != 0);
  });
}

/// Waits for five periods of a timer.
int told_again(const std::function<bool()>& told) {
  constexpr int kTimes = 5;
  for (int times = 0; times < kTimes; ++times)
    if (!told()) return kStopped;
  return kToldOnce;
}

int timer_again(const Timing& timing) {
  const int signal = SIGRTMIN + 1;
  const sigset_t set = blocked_signal(signal);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  int timer = 0;
  const itimerspec again{in_ns(kUntilDue_ns), in_ns(kUntilDue_ns)};
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::syscall(SYS_timer_settime, timer, 0, &again, nullptr) != 0)
    return kNoTimer;
  timing.runs();
  return told_again([&] { return takes(set, 5'000'000'000); });
}

int file_of_timer(const Timing& timing, std::int64_t period_ns) {
  const int file = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  const itimerspec setting{in_ns(period_ns), in_ns(kUntilDue_ns)};
  if (file < 0 || ::timerfd_settime(file, 0, &setting, nullptr) != 0) return kNoTimer;
  timing.runs();
  const auto told = [file] {
    std::uint64_t ticks = 0;
    for (int i = 0; i < 50'000; ++i) {
      if (::read(file, &ticks, sizeof ticks) == sizeof ticks) return ticks > 0;
      ::usleep(100);  // wait: for the timer, 5 s at most
    }
    return false;
  };
  if (period_ns != 0) return told_again(told);
  if (!told()) return kNotTold;
  std::uint64_t more = 0;
  itimerspec left{};
  do {
    if (::timerfd_gettime(file, &left) != 0) return kNoTimer;
  } while (left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0);  // wait: a second expiry would come with it
  return ::read(file, &more, sizeof more) == sizeof more ? kToldTwice : kToldOnce;
}

TEST(TimersOfOneThatStandsStill, AreReadAgainWhereASignalCameMeanwhile) {
  using Signals = std::vector<std::vector<std::byte>>;
  const Signals none, one = {{std::byte{14}}};
  std::vector<Signals> told = {none, one, one};
  int asked = 0, reads = 0;
  const auto pending = [&]() -> base::Result<Signals> { return told[static_cast<std::size_t>(std::min(asked++, 2))]; };
  const auto read = [&] { return ++reads, base::Status(); };
  EXPECT_TRUE(read_between_signals(pending, read));
  EXPECT_EQ(reads, 2) << "it expired at the first time";
  EXPECT_TRUE(read_between_signals(pending, read));
  EXPECT_EQ(reads, 3);
  asked = 0;
  const auto without_end = [&]() -> base::Result<Signals> { return ++asked % 2 == 0 ? none : one; };
  EXPECT_EQ(read_between_signals(without_end, read).error().code, PERDURE_BUSY);
}

struct TimerCase {
  const char* name;
  Waits waits;
};

class TimersThatAreDue : public testing::TestWithParam<TimerCase> {};

/// Captures, kills and resumes a child as close as possible to the expiration of its timer.
void is_told(const Waits& waits, std::uint64_t seed) {
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& due_ns = *new (shared) std::atomic<std::int64_t>{0};
  test_support::TemporaryDirectory here;
  const Timing timing{&due_ns, here / "over"};
  std::mt19937_64 rng(seed);
  Alone child([&](Seen&) { return waits(timing); });
  ASSERT_TRUE(test_support::eventually("its timer runs", [&] { return due_ns != 0; }));
  const std::int64_t before_ns = static_cast<std::int64_t>(rng() % 3'000'000) - 300'000;
  while (static_cast<std::int64_t>(os::monotonic_ns()) < due_ns - before_ns) {  // wait: a drawn moment
  }
  const auto captured = capture_to_memory(child.process());
  ASSERT_TRUE(captured) << captured.error().text();
  dies_and_comes_back(child, *captured);
  if (testing::Test::HasFatalFailure()) return;
  std::ofstream(timing.over) << "now";
  EXPECT_EQ(child.end(), kToldOnce) << "1: it was not told, 2: twice, 3: it has no timer, 4: it goes on no more";
  ::munmap(shared, 4096);
}

TEST_P(TimersThatAreDue, TellOnceAndGoOn) {
  const auto seeds = test_support::many_seeds(1, test_support::unless_sanitized(12, 3), 1, 400);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    is_told(GetParam().waits, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TimersThatAreDue,
    testing::Values(
        TimerCase{"Itimer", alarm_once},
        TimerCase{"TimerOfAProcess", [](const Timing& timing) { return timer_once(timing, SIGEV_SIGNAL); }},
        TimerCase{"TimerOfAThread", [](const Timing& timing) { return timer_once(timing, SIGEV_THREAD_ID); }},
        TimerCase{"TimerThatGoesOn", timer_again},
        TimerCase{"FileOfATimer", [](const Timing& timing) { return file_of_timer(timing, 0); }},
        TimerCase{"FileOfATimerThatGoesOn", [](const Timing& timing) { return file_of_timer(timing, 10'000'000); }}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace perdure::process
