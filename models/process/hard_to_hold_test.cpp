// Tests processes in states that a careless tracer would lose, or in which it would end them.
#include <gmock/gmock.h>
#include <linux/rseq.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "process/alone_testing.hpp"
#include "process/guard.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"
#include "process/wait_limit.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

/// Dispatches its system calls to itself, except those of code below the vdso.
int dispatches_calls(Seen& seen) {
  constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
  static volatile char blocks = 1;
  std::uint64_t begin = 0;
  const auto maps = parse_maps(proc_text("/proc/self/maps"), "");
  for (const auto& map : *maps)
    if (map.name == "[vdso]") begin = map.begin;
  seen.works = ::prctl(kSetDispatch, 1, 0UL, begin, &blocks) == 0 ? 1 : -1;
  wait_until_over(seen);
  return 7;
}

TEST(HardToHold, AreThoseWhoseCallsGoToThemselves) {
  Alone child(dispatches_calls);
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "this kernel sends calls to nobody";
  const auto refused = Tracee::seize(child.process());
  if (refused) {  // an old error: this ended the process
    (void)const_cast<Tracee&>(*refused).ask(child.process(), {SYS_getpid});
    (void)const_cast<Tracee&>(*refused).release();
  }
  EXPECT_EQ(child.tell_end(), 7) << "it has not noticed it";
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr("sent to itself"));
}

extern "C" {
extern char perdure_test_sequence_begin[], perdure_test_sequence_end[];  // NOLINT: of the assembler
}

/// Spins within a restartable sequence until `over`. Returns 7 if the sequence was aborted, as the kernel promises.
/// Returns 1 if it continued although it was interrupted.
int restarts_sequences(Seen& seen) {
  alignas(32) static struct rseq_cs sequence;
  auto* const area = reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
  std::uint64_t begin = 0, end = 0, abort = 0;
  asm volatile("leaq 1f(%%rip), %0\n leaq 2f(%%rip), %1\n leaq 4f(%%rip), %2\n" : "=r"(begin), "=r"(end), "=r"(abort));
  (void)begin, (void)end, (void)abort;
  int answer = 0;
  auto* const over = reinterpret_cast<int*>(&seen.over);
  while (answer == 0) {
    asm volatile(
        "leaq 1f(%%rip), %%rax\n movq %%rax, 8(%[cs])\n"
        "leaq 2f(%%rip), %%rcx\n subq %%rax, %%rcx\n movq %%rcx, 16(%[cs])\n"
        "leaq 4f(%%rip), %%rax\n movq %%rax, 24(%[cs])\n"
        "movl $1, (%[works])\n"
        "movq %[cs], 8(%[area])\n"
        ".globl perdure_test_sequence_begin\nperdure_test_sequence_begin:\n"
        "1:\n cmpl $0, (%[over])\n je 1b\n"
        ".globl perdure_test_sequence_end\nperdure_test_sequence_end:\n"
        "2:\n movl $1, %[answer]\n jmp 5f\n"
        ".byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n"  // the signature that the C library has registered
        "4:\n cmpl $0, (%[over])\n je 5f\n movl $7, %[answer]\n"
        "5:\n"
        : [answer] "+&r"(answer)
        : [cs] "r"(&sequence), [area] "r"(area), [over] "r"(over), [works] "r"(&seen.works)
        : "rax", "rcx", "memory", "cc");
  }
  return answer;
}

TEST(HardToHold, AreThoseInARestartableSequence) {
  if (__rseq_size == 0) GTEST_SKIP() << "the C library has registered none";
  const auto begin = reinterpret_cast<std::uint64_t>(perdure_test_sequence_begin);
  const auto end = reinterpret_cast<std::uint64_t>(perdure_test_sequence_end);
  Alone child(restarts_sequences);
  child.wait();
  int within = 0;
  for (int tries = 0; tries < 200 && within < 3; ++tries) {
    child.seen().works = 0;  // it must enter the sequence again, which an error would prevent
    for (int i = 0; i < 10'000 && child.seen().works == 0; ++i)
      std::this_thread::yield();  // wait: so long at most, since it may never do so
    auto tracee = Tracee::seize(child.process());
    ASSERT_TRUE(tracee) << tracee.error().text();
    const auto now = get_registers(child.process());
    ASSERT_TRUE(now);
    const bool is_within = now->rip >= begin && now->rip < end;
    const auto kept = tracee->registers(child.process());
    ASSERT_TRUE(kept);
    EXPECT_FALSE(kept->rip >= begin && kept->rip < end) << "what an image would have";
    const auto asked = tracee->ask(child.process(), {SYS_getpid});
    ASSERT_TRUE(asked && *asked == child.process());
    within += is_within ? 1 : 0;
    if (within == 3) child.seen().over = 1;
    ASSERT_TRUE(tracee->release());
  }
  EXPECT_EQ(within, 3) << "it was never met within";
  EXPECT_EQ(child.tell_end(), 7) << "1: it went on within the sequence";
}

/// Its first thread is in vfork, and another thread works.
int is_in_vfork(Seen& seen) {
  std::thread other([&] {
    while (seen.over == 0) ++seen.count, ::usleep(500);  // wait: it works, until its parent ends it
  });
  static Seen* shared = &seen;
  const pid_t child = ::vfork();
  if (child == 0) {
    shared->works = 1;
    wait_until_over(*shared);
    ::_exit(0);
  }
  (void)::waitpid(child, nullptr, 0);
  other.join();
  return 7;
}

TEST(HardToHold, AreThoseThatDoNotComeToAStop) {
  Alone child(is_in_vfork);
  child.wait();
  base::ErrorCode code = PERDURE_INTERNAL;
  std::string text;
  std::thread([&] {  // at the end of this thread the kernel releases all
    const WaitLimit limit(300'000'000);
    const auto refused = Tracee::seize(child.process());
    if (!refused) code = refused.error().code, text = refused.error().text();
  })
      .join();
  EXPECT_EQ(code, PERDURE_BUSY) << text;
  EXPECT_THAT(text, HasSubstr("does not come to a stop"));
  const int before = child.seen().count;
  EXPECT_TRUE(test_support::eventually("the other one goes on", [&] { return child.seen().count >= before + 5; }));
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(HardToHold, AreThreadsThatAreTakenForTheirProcess) {
  Alone child([](Seen& seen) {
    std::thread other([&] {
      seen.count = ::gettid();
      seen.works = 1;
      wait_until_over(seen);
    });
    other.join();
    return 7;
  });
  child.wait();
  const auto refused = look_for_obstacles(child.seen().count, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("a thread of process " + std::to_string(child.process())));
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(HardToHold, AreThoseWhoseThreadsHaveLesserNumbers) {
  pid_t greatest = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> greatest;
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child(
      [&](Seen& seen) {
        std::thread other([&] {
          seen.works = ::gettid() < ::getpid() ? 1 : -1;
          wait_until_over(over);
        });
        other.join();
        return 7;
      },
      greatest - 1 - ::getpid() % 50);
  if (child.process() < 0) GTEST_SKIP() << "numbers cannot be chosen here";
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "the system has begun numbers anew just now";
  const pid_t number = child.process();
  EXPECT_TRUE(look_for_obstacles(number, {0, 1, 2}));
  goes_on_elsewhere(child, over);
}

TEST(HardToHold, AreThoseThatBeginAnotherProgram) {
  const int times = test_support::unless_sanitized(150, 15);
  for (int time = 0; time < times; ++time) {
    SCOPED_TRACE(time);
    Alone child([](Seen& seen) {
      std::thread other([&] {
        seen.works = 1;
        while (seen.over == 0) {  // wait: it begins the other program at once then
        }
        ::execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
      });
      other.join();
      return 9;
    });
    child.wait();
    child.seen().over = 1;
    for (int i = 0; i < time * 100; ++i) asm volatile("" ::: "memory");
    std::thread([&] {
      auto tracee = Tracee::seize(child.process());
      if (!tracee) return;
      (void)tracee->ask(child.process(), {SYS_getpid});
      (void)tracee->release();
    }).join();
    ASSERT_THAT(child.end(), testing::AnyOf(5, Alone::kToldToTracer));
  }
}

TEST(HardToHold, AreThoseThatMakeChildrenMeanwhile) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard) << guard.error().text();
  Alone child([](Seen& seen) {
    while (seen.over == 0) {
      const pid_t other = ::fork();
      if (other == 0) ::_exit((::usleep(2000), 0));  // wait: it lives for a moment
      (void)::waitpid(other, nullptr, 0);
      seen.works = 1;
      ::usleep(2000);  // wait: for a moment it has no child
    }
    return 7;
  });
  child.wait();
  const std::string task = "/proc/" + std::to_string(child.process()) + "/task/" + std::to_string(child.process());
  for (int time = 0; time < test_support::unless_sanitized(60, 8); ++time) {
    const auto held = guard->hold({child.process(), {}});
    if (!held) {
      EXPECT_THAT(held.error().text(), HasSubstr("children")) << held.error().text();
      continue;
    }
    EXPECT_EQ(proc_text(task + "/children"), "") << "it would be missed where this is brought back";
    EXPECT_TRUE(guard->release());
  }
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(HardToHold, AreThoseThatEndAsSoonAsTheyGoOn) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  constexpr int kThreads = 150;
  for (int time = 0; time < 4; ++time) {
    Alone child([&](Seen& seen) {
      for (int i = 0; i < kThreads; ++i)
        std::thread([] {
          for (;;) ::pause();
        }).detach();
      seen.works = 1;
      while (::access(over.c_str(), F_OK) != 0) {  // wait: it ends at once then
      }
      ::_exit(7);
      return 0;
    });
    child.wait();
    const pid_t number = child.process();
    const auto captured = capture_to_memory(number);
    ASSERT_TRUE(captured) << captured.error().text();
    ::kill(number, SIGKILL);
    ASSERT_EQ(child.end(), -SIGKILL);
    std::ofstream(over) << "now";
    const auto again = resume_from_memory(*captured);
    ASSERT_TRUE(again) << again.error().text();
    child.lives_again(number);
    EXPECT_EQ(child.end(), 7);
    ::unlink(over.c_str());
  }
}

TEST(HardToHold, AreThoseWhoseProgramAndDirectoryWereDeleted) {
  test_support::TemporaryDirectory here;
  const std::string copy = here / "copy", place = here / "place";
  std::ofstream(copy, std::ios::binary) << std::ifstream(PERDURE_AWKWARD, std::ios::binary).rdbuf();
  ASSERT_EQ(::chmod(copy.c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  Program program({"/bin/sh", "-c", "cd " + place + " && rmdir " + place + " && exec " + copy + " suspends"},
                  here / "output");
  const std::string directory = "/proc/" + std::to_string(program.process());
  std::error_code error;
  ASSERT_TRUE(test_support::eventually(
      "the program has begun", [&] { return std::filesystem::read_symlink(directory + "/exe", error) == copy; }));
  ASSERT_EQ(::unlink(copy.c_str()), 0);
  const auto captured = capture_to_memory(program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  ::kill(program.process(), SIGKILL);
  ASSERT_EQ(program.end(), -SIGKILL);
  const auto again = resume_from_memory(*captured);
  ASSERT_TRUE(again) << again.error().text();
  program.lives_again();
  const auto where = std::filesystem::read_symlink(directory + "/cwd", error).string();
  EXPECT_TRUE(where.ends_with(" (deleted)")) << where;
  EXPECT_EQ(program.end(), 0);
}

/// Has memory with content that it may no longer read.
int hides_memory(Seen& seen, const std::string& over) {
  constexpr std::size_t kBytes = 16 * kPageBytes;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 42, kBytes);
  auto* const bytes = static_cast<volatile char*>(memory);
  ::mprotect(static_cast<char*>(memory) + 4 * kPageBytes, 4 * kPageBytes, PROT_NONE);
  seen.works = 1;
  wait_until_over(over);
  ::mprotect(memory, kBytes, PROT_READ);
  for (std::size_t i = 0; i < kBytes; ++i)
    if (bytes[i] != 42) return 1;
  return 7;
}

TEST(HardToHold, AreThoseWithMemoryThatTheyMayNotRead) { is_the_same_brought_back(hides_memory, "PROT_NONE"); }

/// Has a guard page between other pages.
int guards_memory(Seen& seen, const std::string& over) {
  constexpr int kGuard = 102;  // MADV_GUARD_INSTALL
  constexpr std::size_t kBytes = 8 * kPageBytes;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 42, kBytes);
  auto* const bytes = static_cast<volatile char*>(memory);
  const bool can = ::madvise(static_cast<char*>(memory) + 2 * kPageBytes, kPageBytes, kGuard) == 0;
  ::signal(SIGSEGV, [](int) { ::_exit(7); });
  seen.works = can ? 1 : -1;
  wait_until_over(over);
  for (const std::size_t page : {0, 1, 3, 7})
    if (bytes[page * kPageBytes] != 42) return 1;
  return bytes[2 * kPageBytes] == 42 ? 2 : 3;
}

TEST(HardToHold, AreThoseWithGuardsInTheirMemory) { is_the_same_brought_back(guards_memory, "MADV_GUARD_INSTALL"); }

}  // namespace
}  // namespace perdure::process
