// Tests processes that stand still for a while, and must not notice.
#include "process/tracee.hpp"

#include <gmock/gmock.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <sstream>
#include <thread>

#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

namespace perdure::process {
namespace {

using testing::Each;
using testing::HasSubstr;

/// A child that does `work` until it is told to stop. Its status is the result of `work`.
class Child {
 public:
  /// `said` becomes readable when it must stop. `work` writes a byte to `works` when all of it has begun.
  using Work = std::function<int(int said, int works)>;
  explicit Child(const Work& work) {
    std::array<int, 2> say{}, begun{};
    EXPECT_EQ(::pipe(say.data()), 0);
    EXPECT_EQ(::pipe(begun.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(say[1]);
      ::_exit(work(say[0], begun[1]));
    }
    ::close(say[0]);
    ::close(begun[1]);
    say_ = say[1];
    char byte = 0;
    EXPECT_EQ(::read(begun[0], &byte, 1), 1);
    ::close(begun[0]);
  }
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    (void)end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t process() const { return process_; }
  /// Its exit status; -1 if a signal ended it.
  int stop() {
    EXPECT_EQ(::write(say_, "q", 1), 1);
    return end();
  }

 private:
  int end() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    process_ = 0;
    ::close(say_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t process_ = 0;
  int say_ = -1;
};

bool told_to_stop(int said) {
  pollfd one{said, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

/// Returns the result of the thread's call.
std::int64_t asked(Tracee& tracee, pid_t thread, const SystemCall& call) {
  const auto answer = tracee.ask(thread, call);
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : ~std::int64_t{0};
}

/// Returns facts of a process that others can see, without counts of its runs.
std::string seen_of(pid_t process) {
  const std::string at = "/proc/" + std::to_string(process);
  std::string all = proc_text(at + "/maps");
  for (const auto& thread : std::filesystem::directory_iterator(at + "/task")) {
    std::istringstream status(proc_text(thread.path() / "status"));
    for (std::string line; std::getline(status, line);)
      for (const std::string begin : {"TracerPid", "FDSize", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn",
                                      "SigCgt", "Cpus_allowed_list", "Mems_allowed_list"})
        if (line.starts_with(begin + ":")) all += line + "\n";
  }
  for (const auto& descriptor : std::filesystem::directory_iterator(at + "/fd"))
    all += descriptor.path().filename().string() + " " + std::filesystem::read_symlink(descriptor).string() + "\n";
  return all;
}

/// Makes threads wait in many ways that a signal would end. Returns 0 if none of them noticed anything.
int wait_in_many_ways(int said, int works) {
  std::atomic<bool> over{false};
  std::atomic<int> noticed{0}, begun{0};
  std::atomic<int> word{0};
  const auto judge = [&](bool good) { noticed += good ? 0 : 1; };
  std::vector<std::function<void()>> waits = {
      [&] {
        timespec time{0, 3'000'000};
        judge(::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0);  // wait: this is what is interrupted
      },
      [&] {
        timespec time{0, 5'000'000};
        const auto done = ::syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, nullptr, 0);
        judge(done < 0 && errno == ETIMEDOUT);
      },
      [&] { judge(::poll(nullptr, 0, 4) == 0); },
      [&] {
        double sum = 0;
        for (int i = 1; i < 20'000; ++i) sum += 1.0 / i;
        static const double once = sum;
        judge(sum == once);
      },
      [&] {
        std::atomic<int> value{0};
        std::thread other([&] { value = 7; });
        other.join();
        judge(value == 7);
      },
  };
  std::vector<std::thread> threads;
  for (auto& wait : waits)
    threads.emplace_back([&, wait] {
      ++begun;
      while (!over) wait();
    });
  (void)test_support::eventually("all threads have begun", [&] { return begun == static_cast<int>(waits.size()); });
  if (::write(works, "b", 1) != 1) return 99;
  char byte = 0;
  judge(::read(said, &byte, 1) == 1);  // without SA_RESTART it would end with EINTR
  over = true;
  for (auto& thread : threads) thread.join();
  return std::min(noticed.load(), 98);
}

TEST(Tracees, DoNotNoticeThatTheyStoodStill) {
  Child child(wait_in_many_ways);
  for (int round = 0; round < test_support::unless_sanitized(300, 40); ++round) {
    auto tracee = Tracee::seize(child.process());
    ASSERT_TRUE(tracee) << tracee.error().text();
    EXPECT_GE(tracee->threads().size(), 6U);
    if (round % 2 == 0)
      for (const pid_t thread : tracee->threads()) {
        EXPECT_EQ(asked(*tracee, thread, {SYS_gettid}), thread);
      }
    ASSERT_TRUE(tracee->release());
  }
  EXPECT_EQ(child.stop(), 0) << "so many calls noticed it";
}

TEST(Tracees, StandStill) {
  Child child(wait_in_many_ways);
  auto tracee = Tracee::seize(child.process());
  ASSERT_TRUE(tracee) << tracee.error().text();
  const auto states = [&] {
    std::string all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(child.process()) + "/task")) {
      const auto text = proc_text(task.path() / "stat");
      all += text[text.rfind(')') + 2];
    }
    return all;
  };
  for (int look = 0; look < 20; ++look) {
    EXPECT_THAT(states(), Each('t'));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // wait: one that goes on would be seen to
  }
  EXPECT_EQ(tracee->threads().size(), states().size());
  for (const pid_t thread : tracee->threads()) {
    EXPECT_GE(tracee->extended_registers(thread)->size(), 512U) << "what FXSAVE has, at least";
    EXPECT_NE(tracee->registers(thread)->rip, 0U);
  }
  EXPECT_EQ(*tracee->blocked_signals(child.process()), 0U);
  EXPECT_EQ(tracee->registers(1).error().code, PERDURE_NOT_FOUND);
}

TEST(Tracees, ThatWereAskedAThousandTimesHaveNoTraceOfIt) {
  Child child([](int said, int works) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    ::raise(SIGUSR2);
    std::atomic<bool> begun{false}, over{false};
    std::thread other([&] {
      begun = true;
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: it is looked at meanwhile
    });
    (void)test_support::eventually("the thread has begun", [&] { return begun.load(); });
    char byte = 0;
    const bool good = ::write(works, "b", 1) == 1 && ::read(said, &byte, 1) == 1;
    over = true;
    other.join();
    return good ? 0 : 1;
  });
  ASSERT_TRUE(
      test_support::eventually("it waits to be told to stop", [&] { return state_of(child.process()) == 'S'; }));
  const std::string before = seen_of(child.process());
  EXPECT_THAT(before, HasSubstr("SigBlk:\t0000000000000800"));
  for (int round = 0; round < test_support::unless_sanitized(1000, 100); ++round) {
    auto tracee = Tracee::seize(child.process());
    ASSERT_TRUE(tracee) << tracee.error().text();
    for (const pid_t thread : tracee->threads()) {
      EXPECT_EQ(asked(*tracee, thread, {SYS_getpid}), child.process());
      EXPECT_EQ(asked(*tracee, thread, {SYS_close, ~0ULL}), -EBADF) << "an error is the call's";
      EXPECT_EQ(*tracee->blocked_signals(thread), 1ULL << (SIGUSR2 - 1));
    }
  }
  EXPECT_EQ(seen_of(child.process()), before);
  EXPECT_EQ(child.stop(), 0);
}

std::atomic<int> handled{0};

TEST(Tracees, GetEachOfTheirSignalsOnce) {
  constexpr int kSignals = 400;
  Child child([](int said, int works) {
    handled = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { ++handled; };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGRTMIN, &action, nullptr);
    if (::write(works, "b", 1) != 1) return 2;
    while (!told_to_stop(said)) {  // wait: it is captured in the middle of its signals, and its parent ends it
    }
    return handled == kSignals ? 0 : 1;
  });
  for (int i = 0; i < kSignals; ++i) {  // queued, none is lost
    ASSERT_TRUE(test_support::eventually("there is room for a signal",
                                         [&] { return ::sigqueue(child.process(), SIGRTMIN, {}) == 0; }));
    if (i % 2 != 0) continue;
    auto tracee = Tracee::seize(child.process());
    ASSERT_TRUE(tracee) << tracee.error().text();
    if (i % 4 == 0) {
      ASSERT_EQ(::sigqueue(child.process(), SIGRTMIN, {}), 0) << "while it stands still";
      ++i;
      EXPECT_EQ(asked(*tracee, child.process(), {SYS_getpid}), child.process());
    }
  }
  EXPECT_EQ(child.stop(), 0) << "it gets what is queued before it sees that it is to stop";
}

TEST(Tracees, ThatWereStoppedStayStopped) {
  Child child(wait_in_many_ways);
  ASSERT_EQ(::kill(child.process(), SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child.process(), &status, WUNTRACED), child.process());
  for (int round = 0; round < 10; ++round) {
    auto tracee = Tracee::seize(child.process());
    ASSERT_TRUE(tracee) << tracee.error().text();
    if (round % 2 == 0) {
      EXPECT_EQ(asked(*tracee, child.process(), {SYS_gettid}), child.process());
    }
    ASSERT_TRUE(tracee->release());
    EXPECT_TRUE(test_support::eventually("it is stopped again", [&] { return state_of(child.process()) == 'T'; }));
  }
  ASSERT_EQ(::kill(child.process(), SIGCONT), 0);
  EXPECT_EQ(child.stop(), 0);
}

TEST(Tracees, WhoseLeaderHasEndedAreTheirOtherThreads) {
  Child child([](int said, int works) {
    static int to_stop;
    to_stop = said;
    std::thread([works] {
      (void)test_support::eventually("the leader has ended", [] { return state_of(::getpid()) == 'Z'; });
      char byte = 0;
      const bool good = ::write(works, "b", 1) == 1 && ::read(to_stop, &byte, 1) == 1;
      ::_exit(good ? 0 : 1);
    }).detach();
    ::syscall(SYS_exit, 0);  // this thread alone
    return 2;
  });
  auto tracee = Tracee::seize(child.process());
  ASSERT_TRUE(tracee) << tracee.error().text();
  ASSERT_EQ(tracee->threads().size(), 1U);
  EXPECT_NE(tracee->threads()[0], child.process());
  EXPECT_EQ(asked(*tracee, tracee->threads()[0], {SYS_getpid}), child.process());
  EXPECT_TRUE(tracee->release());
  EXPECT_EQ(child.stop(), 0);
}

TEST(Tracees, ThatCannotBeHadAreRefusedWithTheReason) {
  EXPECT_EQ(Tracee::seize(::getpid()).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Tracee::seize(0).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Tracee::seize(0x3fffffff).error().code, PERDURE_NOT_FOUND);
  Child child(wait_in_many_ways);
  std::array<int, 2> ready{}, over{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(over.data()), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    auto tracee = Tracee::seize(child.process());
    char byte = tracee ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(over[0], &byte, 1);
    if (tracee) (void)tracee->release();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  if (byte == 'y') {
    const auto refused = Tracee::seize(child.process());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_BUSY);
    EXPECT_THAT(refused.error().text(), HasSubstr("process " + std::to_string(other) + " traces it"));
  }
  ASSERT_EQ(::write(over[1], "q", 1), 1);
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);
  for (const int fd : {ready[0], ready[1], over[0], over[1]}) ::close(fd);
  EXPECT_EQ(child.stop(), 0);
}

TEST(Tracees, ThatAreKilledMeanwhileAreGone) {
  Child child(wait_in_many_ways);
  auto tracee = Tracee::seize(child.process());
  ASSERT_TRUE(tracee);
  ASSERT_EQ(::kill(child.process(), SIGKILL), 0);
  EXPECT_FALSE(tracee->ask(child.process(), {SYS_getpid}));
  EXPECT_FALSE(tracee->release());
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.process()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ended.si_code, CLD_KILLED) << "how it ended is still to be asked for";
}

}  // namespace
}  // namespace perdure::process
