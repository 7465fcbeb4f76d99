// Tests kernel state that a capture keeps: a child sets it, is captured, killed and resumed, and compares.
#include <gmock/gmock.h>
#include <linux/ioprio.h>
#include <linux/membarrier.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "process/alone_testing.hpp"
#include "process/kernel_state.hpp"

namespace perdure::process {
namespace {

/// `make` sets the state, and returns whether this kernel permits it. `has` returns whether the child has it.
void comes_back(const char* what, const std::function<bool()>& make, const std::function<bool()>& has) {
  is_the_same_brought_back(
      [&](Seen& seen, const std::string& over) {
        seen.works = make() && has() ? 1 : -1;
        wait_until_over(over);
        return has() ? 7 : 1;
      },
      what);
}

/// The same for a second thread; the first one does not have the state.
void comes_back_in_a_thread(const char* what, const std::function<bool()>& make, const std::function<bool()>& has) {
  is_the_same_brought_back(
      [&](Seen& seen, const std::string& over) {
        int answer = 1;
        std::thread other([&] {
          seen.works = make() && has() ? 1 : -1;
          wait_until_over(over);
          answer = has() ? 7 : 1;
        });
        other.join();
        return has() ? 2 : answer;
      },
      what);
}

bool switched(int what, unsigned long first = 0, unsigned long second = 0) {
  return ::prctl(what, first, second, 0UL, 0UL) == 0;
}
int asked_for(int what) { return ::prctl(what, 0UL, 0UL, 0UL, 0UL); }

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

TEST(Census, KeepsRegistrationsForMemoryBarriers) {
  constexpr int kListRegistrations = 1 << 9;
  comes_back(
      "membarrier",
      [] {
        for (std::uint32_t one = 1; one <= kMembarriers; one <<= 1)
          if ((kMembarriers & one) != 0 && membarrier(static_cast<int>(one)) != 0) return false;
        return membarrier(kListRegistrations) >= 0;
      },
      [] {
        return membarrier(kListRegistrations) == kMembarriers && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 &&
               membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
      });
}

TEST(Census, KeepsThatNoMemoryIsWrittenAndExecuted) {
  constexpr int kSet = 65, kGet = 66;  // PR_SET_MDWE
  constexpr unsigned long kRefused = 1;
  comes_back(
      "PR_SET_MDWE", [] { return switched(kSet, kRefused); },
      [] {
        void* both = ::mmap(nullptr, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return asked_for(kGet) == kRefused && both == MAP_FAILED && errno == EACCES;
      });
}

TEST(Census, KeepsSecurebitsOfEachThread) {
  constexpr unsigned long kBits = SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_SETUID_FIXUP;
  comes_back_in_a_thread(
      "securebits", [] { return switched(PR_SET_SECUREBITS, kBits); },
      [] { return asked_for(PR_GET_SECUREBITS) == static_cast<int>(kBits); });
}

TEST(Census, KeepsThatCapabilitiesAreKept) {
  comes_back_in_a_thread(
      "PR_SET_KEEPCAPS", [] { return switched(PR_SET_KEEPCAPS, 1); }, [] { return asked_for(PR_GET_KEEPCAPS) == 1; });
}

TEST(Census, KeepsWhoMayReadTheTimeStampCounter) {
  comes_back_in_a_thread(
      "PR_SET_TSC", [] { return switched(PR_SET_TSC, PR_TSC_SIGSEGV); },
      [] {
        int access = 0;
        return ::prctl(PR_GET_TSC, &access) == 0 && access == PR_TSC_SIGSEGV;
      });
}

TEST(Census, KeepsRestartableSequences) {
  is_the_same_brought_back(
      [](Seen& seen, const std::string& over) {
        seen.works = __rseq_size != 0 ? 1 : -1;
        wait_until_over(over);
        auto* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
        constexpr unsigned kSignature = 0x53053053;
        constexpr int kTakesBack = 1;  // RSEQ_FLAG_UNREGISTER; fails unless the area is registered
        for (const unsigned bytes : {__rseq_size, 32U})
          if (::syscall(SYS_rseq, area, bytes, kTakesBack, kSignature) == 0) return 7;
        return 1;
      },
      "rseq");
}

TEST(Census, KeepsSealsOfMemory) {
  constexpr long kSeal = 462;
  static char* memory = nullptr;
  constexpr std::size_t kBytes = 4 * kPageBytes;
  comes_back(
      "mseal",
      [] {
        memory =
            static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::memset(memory, 42, kBytes);
        return ::mprotect(memory, kPageBytes, PROT_READ) == 0 && ::syscall(kSeal, memory, kBytes, 0) == 0;
      },
      [] {
        for (std::size_t i = 0; i < kBytes; ++i)
          if (memory[i] != 42) return false;
        const bool sealed = ::mprotect(memory, kBytes, PROT_NONE) != 0 && errno == EPERM;
        return sealed && ::munmap(memory, kBytes) != 0 && errno == EPERM;
      });
}

TEST(Census, KeepsIoPrioritiesOfThreads) {
  constexpr int kPriority = IOPRIO_CLASS_BE << IOPRIO_CLASS_SHIFT | 6;
  comes_back_in_a_thread(
      "ioprio", [] { return ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, kPriority) == 0; },
      [] { return ::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) == kPriority; });
}

TEST(Census, KeepsWhatBecomesOfThreadsWhereMemoryFails) {
  comes_back_in_a_thread(
      "PR_MCE_KILL", [] { return switched(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY); },
      [] { return asked_for(PR_MCE_KILL_GET) == PR_MCE_KILL_EARLY; });
}

TEST(Census, KeepsTimerSlackOfThreads) {
  constexpr int kSlack_ns = 123'456;
  comes_back_in_a_thread(
      "PR_SET_TIMERSLACK", [] { return switched(PR_SET_TIMERSLACK, kSlack_ns); },
      [] { return asked_for(PR_GET_TIMERSLACK) == kSlack_ns; });
}

TEST(Census, KeepsSchedulingOfThreads) {
  constexpr int kNice = 7;
  comes_back_in_a_thread(
      "SCHED_BATCH, nice",
      [] {
        const sched_param none{};
        return ::sched_setscheduler(0, SCHED_BATCH, &none) == 0 && ::setpriority(PRIO_PROCESS, 0, kNice) == 0;
      },
      [] { return ::sched_getscheduler(0) == SCHED_BATCH && ::getpriority(PRIO_PROCESS, 0) == kNice; });
}

TEST(Census, KeepsThatThereAreNoHugePages) {
  comes_back(
      "PR_SET_THP_DISABLE", [] { return switched(PR_SET_THP_DISABLE, 1); },
      [] { return asked_for(PR_GET_THP_DISABLE) == 1; });
  comes_back(
      "PR_THP_DISABLE_EXCEPT_ADVISED", [] { return switched(PR_SET_THP_DISABLE, 1, 2); },
      [] { return asked_for(PR_GET_THP_DISABLE) == 3; });
}

TEST(Census, KeepsThatPagesAreMerged) {
  constexpr int kSet = 67, kGet = 68;  // PR_SET_MEMORY_MERGE
  comes_back(
      "PR_SET_MEMORY_MERGE", [] { return switched(kSet, 1); }, [] { return asked_for(kGet) == 1; });
}

TEST(Census, KeepsPersonalityAndUmask) {
  comes_back(
      "personality", [] { return ::personality(ADDR_NO_RANDOMIZE) >= 0 && (::umask(0137), true); },
      [] {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        return ::personality(0xffffffff) == ADDR_NO_RANDOMIZE && mask == 0137;
      });
}

TEST(Census, KeepsThatItGetsNoPrivileges) {
  comes_back(
      "PR_SET_NO_NEW_PRIVS", [] { return switched(PR_SET_NO_NEW_PRIVS, 1); },
      [] { return asked_for(PR_GET_NO_NEW_PRIVS) == 1; });
}

TEST(Census, KeepsThatItIsNotDumped) {
  comes_back(
      "PR_SET_DUMPABLE", [] { return switched(PR_SET_DUMPABLE, 0); }, [] { return asked_for(PR_GET_DUMPABLE) == 0; });
}

TEST(Census, KeepsThatItReapsOrphans) {
  comes_back(
      "PR_SET_CHILD_SUBREAPER", [] { return switched(PR_SET_CHILD_SUBREAPER, 1); },
      [] {
        int reaps = 0;
        return ::prctl(PR_GET_CHILD_SUBREAPER, &reaps) == 0 && reaps == 1;
      });
}

TEST(Census, KeepsSignalsAtTheEndOfAParent) {
  comes_back_in_a_thread(
      "PR_SET_PDEATHSIG", [] { return switched(PR_SET_PDEATHSIG, SIGUSR2); },
      [] {
        int signal = 0;
        return ::prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGUSR2;
      });
}

std::string text_of_own(const char* file) {
  std::string text;
  std::ifstream(std::string("/proc/self/") + file) >> text;
  return text;
}
bool set_own(const char* file, const char* value) {
  return static_cast<bool>(std::ofstream(std::string("/proc/self/") + file) << value << std::flush);
}

TEST(Census, KeepsHowLikelyItIsKilledForMemory) {
  comes_back(
      "oom_score_adj", [] { return set_own("oom_score_adj", "321"); },
      [] { return text_of_own("oom_score_adj") == "321"; });
}

TEST(Census, KeepsWhatADumpHas) {
  comes_back(
      "coredump_filter", [] { return set_own("coredump_filter", "0x7f"); },
      [] { return text_of_own("coredump_filter") == "0000007f"; });
}

TEST(Census, KeepsLimitsAndTellsThatProcessorTimeCountsAnew) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) {
    rlimit stack{};
    ::getrlimit(RLIMIT_STACK, &stack);
    const rlimit cpu{1000, 2000}, less{1 << 20, stack.rlim_max};
    seen.works = ::setrlimit(RLIMIT_CPU, &cpu) == 0 && ::setrlimit(RLIMIT_STACK, &less) == 0 ? 1 : -1;
    wait_until_over(over);
    rlimit now{};
    return ::getrlimit(RLIMIT_CPU, &now) == 0 && now.rlim_cur == 1000 && ::getrlimit(RLIMIT_STACK, &now) == 0 &&
                   now.rlim_cur == 1 << 20
               ? 7
               : 1;
  });
  child.wait();
  const auto captured = capture_to_memory(child.process());
  ASSERT_TRUE(captured) << captured.error().text();
  const pid_t number = child.process();
  ::kill(number, SIGKILL);
  ASSERT_EQ(child.end(), -SIGKILL);
  ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
  ASSERT_TRUE(write_to(target, *captured, 1 << 20));
  const auto finished = target.finish();
  ASSERT_TRUE(finished) << finished.error().text();
  EXPECT_THAT(target.notes(), testing::Contains(testing::HasSubstr("RLIMIT_CPU, 1000 s) counts anew")));
  ASSERT_TRUE(target.release());
  child.lives_again(number);
  std::ofstream(over) << "now";
  EXPECT_EQ(child.end(), 7);
}

}  // namespace
}  // namespace perdure::process
