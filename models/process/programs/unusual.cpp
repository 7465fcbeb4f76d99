// These programs use rare features, and are always in the middle of that when they are captured, as in awkward.cpp.
// `unusual NAME` does what its name says, and checks itself meanwhile. It writes one line of result, and ends with
// status 0 only if all was right. Its output does not depend on its duration. Without arguments it lists the programs.
// `in_vfork` waits in vfork until it gets SIGUSR1; `until_told` writes to its memory until then.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "judge.hpp"

namespace {

using Result = std::uint64_t;
constexpr std::size_t kPage = 4096;

unsigned char* map_pages(std::size_t pages, int protection = PROT_READ | PROT_WRITE,
                         int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  void* const memory = mmap(nullptr, pages * kPage, protection, flags, file, 0);
  if (memory == MAP_FAILED) _exit(3);
  return static_cast<unsigned char*>(memory);
}

// Uses all vector registers, the mask registers and the x87 stack for a long time without storing them in memory.
// Additions are later undone in reverse order, so all must have their old values.
// clang-format off
#define EACH_16(X, last)                                                                                             \
  X(0, 1)                                                                                                            \
  X(1, 2)                                                                                                            \
  X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8) X(8, 9) X(9, 10) X(10, 11) X(11, 12) X(12, 13) X(13, 14) X(14, 15) \
      X(15, last)
#define BACK_16(X, last)                                                                                           \
  X(15, last)                                                                                                      \
  X(14, 15)                                                                                                        \
  X(13, 14) X(12, 13) X(11, 12) X(10, 11) X(9, 10) X(8, 9) X(7, 8) X(6, 7) X(5, 6) X(4, 5) X(3, 4) X(2, 3) X(1, 2) \
      X(0, 1)
#define MORE_16(X)                                                                                              \
  X(16, 17)                                                                                                     \
  X(17, 18)                                                                                                     \
  X(18, 19) X(19, 20) X(20, 21) X(21, 22) X(22, 23) X(23, 24) X(24, 25) X(25, 26) X(26, 27) X(27, 28) X(28, 29) \
      X(29, 30) X(30, 31) X(31, 0)
#define MORE_BACK_16(X)                                                                                         \
  X(31, 0)                                                                                                      \
  X(30, 31)                                                                                                     \
  X(29, 30) X(28, 29) X(27, 28) X(26, 27) X(25, 26) X(24, 25) X(23, 24) X(22, 23) X(21, 22) X(20, 21) X(19, 20) \
      X(18, 19) X(17, 18) X(16, 17)
// clang-format on
#define LOAD_512(a, b) "vmovdqu64 " #a "*64(%[memory]), %%zmm" #a "\n"
#define KEEP_512(a, b) "vmovdqu64 %%zmm" #a ", " #a "*64(%[memory])\n"
#define ADD_512(a, b) "vpaddq %%zmm" #b ", %%zmm" #a ", %%zmm" #a "\n"
#define TAKE_512(a, b) "vpsubq %%zmm" #b ", %%zmm" #a ", %%zmm" #a "\n"
#define LOAD_256(a, b) "vmovdqu " #a "*64(%[memory]), %%ymm" #a "\n"
#define KEEP_256(a, b) "vmovdqu %%ymm" #a ", " #a "*64(%[memory])\n"
#define ADD_256(a, b) "vpaddq %%ymm" #b ", %%ymm" #a ", %%ymm" #a "\n"
#define TAKE_256(a, b) "vpsubq %%ymm" #b ", %%ymm" #a ", %%ymm" #a "\n"
#define OLD_IN \
  "fildl 0(%[old])\n fildl 4(%[old])\n fildl 8(%[old])\n fildl 12(%[old])\n fildl 16(%[old])\n fildl 20(%[old])\n"
#define OLD_OUT                                                                                               \
  "fistpl 20(%[old])\n fistpl 16(%[old])\n fistpl 12(%[old])\n fistpl 8(%[old])\n fistpl 4(%[old])\n fistpl " \
  "0(%[old])\n"
#define MASKS_IN                                                                                            \
  "kmovw 0(%[masks]), %%k1\n kmovw 2(%[masks]), %%k2\n kmovw 4(%[masks]), %%k3\n kmovw 6(%[masks]), %%k4\n" \
  "kmovw 8(%[masks]), %%k5\n kmovw 10(%[masks]), %%k6\n kmovw 12(%[masks]), %%k7\n"
#define MASKS_OUT                                                                                           \
  "kmovw %%k1, 0(%[masks])\n kmovw %%k2, 2(%[masks])\n kmovw %%k3, 4(%[masks])\n kmovw %%k4, 6(%[masks])\n" \
  "kmovw %%k5, 8(%[masks])\n kmovw %%k6, 10(%[masks])\n kmovw %%k7, 12(%[masks])\n"
#define TURNS(what) "mov %[turns], %%rcx\n 1:\n" what "dec %%rcx\n jnz 1b\n"

struct AllRegisters {
  std::array<std::array<std::uint64_t, 8>, 32> vectors;
  std::array<std::int32_t, 6> old;
  std::array<std::uint16_t, 7> masks;
  bool operator==(const AllRegisters&) const = default;
};

void turn_512(AllRegisters& all, std::uint64_t turns) {
  asm volatile(
      OLD_IN MASKS_IN EACH_16(LOAD_512, 16) MORE_16(LOAD_512)  //
      TURNS(EACH_16(ADD_512, 16) MORE_16(ADD_512)) TURNS(MORE_BACK_16(TAKE_512) BACK_16(TAKE_512, 16))
          EACH_16(KEEP_512, 16) MORE_16(KEEP_512) MASKS_OUT OLD_OUT "vzeroupper\n"
      :
      : [memory] "r"(all.vectors.data()), [old] "r"(all.old.data()), [masks] "r"(all.masks.data()), [turns] "r"(turns)
      : "rcx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",
        "st(7)");
}

void turn_256(AllRegisters& all, std::uint64_t turns) {
  asm volatile(OLD_IN EACH_16(LOAD_256, 0) TURNS(EACH_16(ADD_256, 0)) TURNS(BACK_16(TAKE_256, 0)) EACH_16(KEEP_256, 0)
                   OLD_OUT "vzeroupper\n"
               :
               : [memory] "r"(all.vectors.data()), [old] "r"(all.old.data()), [turns] "r"(turns)
               : "rcx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",
                 "st(5)", "st(6)", "st(7)");
}

Result wide() {
  std::vector<std::thread> threads;
  for (std::uint64_t me = 1; me <= 2; ++me)
    threads.emplace_back([me] {
      AllRegisters all{};
      for (std::size_t i = 0; i < all.vectors.size(); ++i)
        for (std::size_t lane = 0; lane < 8; ++lane) all.vectors[i][lane] = mix(me * 1000 + i * 8 + lane);
      for (std::size_t i = 0; i < all.old.size(); ++i)
        all.old[i] = static_cast<std::int32_t>(mix(me * 99 + i) % 1'000'000);
      for (std::size_t i = 0; i < all.masks.size(); ++i) all.masks[i] = static_cast<std::uint16_t>(mix(me * 77 + i));
      const AllRegisters before = all;
      if (__builtin_cpu_supports("avx512f")) {
        turn_512(all, 3'000'000);
      } else if (__builtin_cpu_supports("avx2")) {
        turn_256(all, 6'000'000);
      }
      judge(all == before, 20);
    });
  for (auto& thread : threads) thread.join();
  return 1;
}

/// Threads hold many robust mutexes, and some end with them: the kernel tells the next owner.
Result robust() {
  constexpr int kRounds = 25, kMutexes = 40;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  std::array<pthread_mutex_t, kMutexes> mutexes;
  for (auto& mutex : mutexes) judge(pthread_mutex_init(&mutex, &attributes) == 0, 30);
  Result inherited = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::thread holds([&] {
      for (auto& mutex : mutexes) judge(pthread_mutex_lock(&mutex) == 0, 31);
      pause_ms(6);
      for (int i = round % 3; i < kMutexes; i += 3) judge(pthread_mutex_unlock(&mutexes[i]) == 0, 32);
      pause_ms(2);
    });
    holds.join();
    for (int i = 0; i < kMutexes; ++i) {
      const int got = pthread_mutex_lock(&mutexes[i]);
      judge(got == (i % 3 == round % 3 ? 0 : EOWNERDEAD), 33);
      if (got == EOWNERDEAD) judge(pthread_mutex_consistent(&mutexes[i]) == 0, 34);
      inherited += got == EOWNERDEAD ? 1 : 0;
      judge(pthread_mutex_unlock(&mutexes[i]) == 0, 35);
    }
  }
  return inherited;
}

/// SIGALRM is blocked and pending, or about to come.
Result pending_alarm() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  judge(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, 40);
  const itimerval once{{0, 0}, {0, 8'000}};
  const timespec at_once{}, long_time{100, 0};
  Result taken = 0;
  for (int round = 0; round < 12; ++round) {
    siginfo_t information{};
    judge(setitimer(ITIMER_REAL, &once, nullptr) == 0, 41);
    while (sigtimedwait(&set, &information, &long_time) < 0) judge(errno == EINTR, 42);  // at each stop
    judge(information.si_signo == SIGALRM, 43);
    judge(information.si_code == SI_KERNEL, 44);
    judge(setitimer(ITIMER_REAL, &once, nullptr) == 0, 45);
    sigset_t waiting;
    do {
      pause_ms(2);
      judge(sigpending(&waiting) == 0, 46);
    } while (sigismember(&waiting, SIGALRM) != 1);
    pause_ms(8);
    judge(sigtimedwait(&set, &information, &at_once) == SIGALRM && information.si_code == SI_KERNEL, 47);
    judge(sigtimedwait(&set, &information, &at_once) == -1 && errno == EAGAIN, 48);
    ++taken;
  }
  return taken;
}

/// errno, thread-local memory, and destructors at a thread's end.
std::atomic<Result> ended{0};
struct Counted {
  std::array<std::uint64_t, 700> words{};
  ~Counted() { ended += words[699]; }
};
thread_local Counted counted;
Result thread_memory() {
  pthread_key_t key{};
  judge(pthread_key_create(&key, [](void* value) { ended += reinterpret_cast<std::uintptr_t>(value); }) == 0, 50);
  std::vector<std::thread> threads;
  for (std::uint64_t me = 1; me <= 8; ++me)
    threads.emplace_back([me, key] {
      judge(pthread_setspecific(key, reinterpret_cast<void*>(me * 1000)) == 0, 51);
      for (std::uint64_t round = 0; round < 60; ++round) {
        errno = static_cast<int>(100 + me);
        for (auto& word : counted.words) word = mix(word + me);
        for (int i = 0; i < 60'000; ++i) asm volatile("" : : : "memory");
        judge(errno == static_cast<int>(100 + me), 52);
        judge(read(-1, nullptr, 0) == -1 && errno == EBADF, 53);
        judge(pthread_getspecific(key) == reinterpret_cast<void*>(me * 1000), 54);
        pause_ms(1);
      }
    });
  for (auto& thread : threads) thread.join();
  return ended;
}

/// Exceptions are in flight while slow destructors throw and catch others. Some pass between threads.
struct TakesItsTime {
  int in_flight;
  ~TakesItsTime() {
    judge(std::uncaught_exceptions() == in_flight, 60);
    pause_ms(1);
    try {
      throw std::out_of_range("inner");
    } catch (const std::exception& error) {
      judge(std::string(error.what()) == "inner", 61);
    }
    judge(std::uncaught_exceptions() == in_flight, 62);
  }
};
Result in_flight() {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> caught(3);
  for (std::size_t me = 0; me < caught.size(); ++me)
    threads.emplace_back([&caught, me] {
      for (int round = 0; round < 12; ++round) {
        try {
          const TakesItsTime first{1}, second{1};
          const std::function<void(int)> deeper = [&](int depth) {
            const TakesItsTime here{1};
            if (depth == 0) throw std::runtime_error(std::to_string(me * 100 + static_cast<std::size_t>(round)));
            deeper(depth - 1);
          };
          deeper(4);
        } catch (...) {
          caught[me] = std::current_exception();
        }
      }
    });
  for (auto& thread : threads) thread.join();
  Result sum = 0;
  for (const auto& one : caught) try {
      std::rethrow_exception(one);
    } catch (const std::runtime_error& error) {
      sum = mix(sum + std::strtoull(error.what(), nullptr, 10));
    }
  return sum;
}

/// 500 threads wait in six ways.
Result five_hundred() {
  constexpr unsigned kThreads = 500;
  std::atomic<unsigned> word{0};
  std::array<int, 2> ends{};
  judge(pipe(ends.data()) == 0, 70);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  judge(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, 71);
  std::atomic<Result> sum{0};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  std::vector<pthread_t> threads(kThreads);
  std::function<void(unsigned)> work = [&](unsigned me) {
    const timespec soon{0, 5'000'000};
    pollfd end{ends[0], POLLIN, 0};
    while (word.load() == 0) switch (me % 6) {
        case 0:
        case 1:
        case 2:
          syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
          break;
        case 3:
          judge(poll(&end, 1, -1) == 1 || errno == EINTR, 72);
          break;
        case 4:
          clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, nullptr);  // wait: this is what is interrupted
          break;
        default:
          judge(sigtimedwait(&set, nullptr, &soon) == -1 && (errno == EAGAIN || errno == EINTR), 73);
      }
    sum += mix(me);
  };
  struct Begin {
    std::function<void(unsigned)>* work;
    unsigned me;
  };
  std::vector<Begin> begins(kThreads);
  for (unsigned me = 0; me < kThreads; ++me) {
    begins[me] = {&work, me};
    const int made = pthread_create(
        &threads[me], &attributes,
        [](void* begin) -> void* {
          (*static_cast<Begin*>(begin)->work)(static_cast<Begin*>(begin)->me);
          return nullptr;
        },
        &begins[me]);
    if (made != 0) _exit(4);
  }
  pause_ms(120);
  word = 1;
  judge(write(ends[1], "x", 1) == 1, 74);
  syscall(SYS_futex, &word, FUTEX_WAKE, kThreads, nullptr, nullptr, 0);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return sum;
}

/// 4,000 mappings have content, and other rights than their neighbours.
Result four_thousand() {
  constexpr std::size_t kMaps = 4000;
  constexpr std::array kRights = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC};
  unsigned char* const memory = map_pages(2 * kMaps);
  for (std::size_t i = 0; i < kMaps; ++i) {
    std::memcpy(memory + 2 * i * kPage, &i, sizeof i);
    judge(mprotect(memory + 2 * i * kPage, kPage, kRights[i % 4]) == 0, 80);
    judge(mprotect(memory + (2 * i + 1) * kPage, kPage, i % 2 == 0 ? PROT_NONE : PROT_READ) == 0 || i % 4 == 2, 81);
  }
  Result sum = 0;
  for (int round = 0; round < 30; ++round) {
    for (std::size_t i = static_cast<std::size_t>(round) % 4; i < kMaps; i += 4) {
      unsigned char* const at = memory + 2 * i * kPage;
      judge(mprotect(at, kPage, PROT_READ | PROT_WRITE) == 0, 82);
      std::size_t found = 0;
      std::memcpy(&found, at, sizeof found);
      judge(found == i, 83);
      at[100] = static_cast<unsigned char>(at[100] + round);
      sum = mix(sum + at[100] + i);
      judge(mprotect(at, kPage, kRights[i % 4]) == 0, 84);
    }
    pause_ms(2);
  }
  return sum;
}

/// 1,000 descriptors of ten kinds are open.
struct Many {
  std::vector<int> opened;
  int add(int number) {
    if (number < 0) _exit(5);
    opened.push_back(number);
    return number;
  }
};
Result thousand_descriptors() {
  rlimit limit{};
  judge(getrlimit(RLIMIT_NOFILE, &limit) == 0, 90);
  limit.rlim_cur = std::min<rlim_t>(4096, limit.rlim_max);
  judge(setrlimit(RLIMIT_NOFILE, &limit) == 0, 91);
  Many many;
  std::vector<std::array<int, 4>> sets;  // of each: program at an offset, memory, counter, end of a pipe
  const int watch = many.add(epoll_create1(0));
  for (int i = 0; i < 90; ++i) {
    std::array<int, 2> pipe_ends{}, sockets{};
    judge(pipe(pipe_ends.data()) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) == 0, 92);
    for (const int end : {pipe_ends[0], pipe_ends[1], sockets[0], sockets[1]}) many.add(end);
    const int program = many.add(open("/proc/self/exe", O_RDONLY));
    const int memory = many.add(memfd_create("one", MFD_CLOEXEC));
    const int counter = many.add(eventfd(static_cast<unsigned>(i), 0));
    many.add(dup(program));
    many.add(timerfd_create(CLOCK_MONOTONIC, 0));
    many.add(open("/dev/null", O_RDWR));
    many.add(open("/tmp", O_RDONLY | O_DIRECTORY));
    judge(lseek(program, i * 3, SEEK_SET) == i * 3, 93);
    judge(write(memory, &i, sizeof i) == sizeof i && write(pipe_ends[1], &i, sizeof i) == sizeof i, 94);
    judge(write(sockets[0], &i, sizeof i) == sizeof i, 95);
    epoll_event event{EPOLLIN, {.u32 = static_cast<std::uint32_t>(i)}};
    judge(epoll_ctl(watch, EPOLL_CTL_ADD, pipe_ends[0], &event) == 0, 96);
    sets.push_back({program, memory, counter, sockets[1]});
  }
  judge(many.opened.size() >= 990, 97);
  Result sum = 0;
  for (int round = 0; round < 15; ++round) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const auto [program, memory, counter, socket] = sets[i];
      char byte = 0;
      int word = 0;
      judge(lseek(many.opened[i * 11 + 8], 0, SEEK_CUR) == static_cast<off_t>(i) * 3 + round, 98);  // the duplicate
      judge(read(program, &byte, 1) == 1, 99);
      judge(pread(memory, &word, sizeof word, 0) == sizeof word && word == static_cast<int>(i), 100);
      const std::uint64_t one = 1;
      judge(write(counter, &one, sizeof one) == sizeof one, 101);
      sum = mix(sum + static_cast<unsigned char>(byte) + static_cast<Result>(word));
    }
    std::array<epoll_event, 100> ready{};
    judge(epoll_wait(watch, ready.data(), 100, 0) == 90, 102);
    pause_ms(5);
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::uint64_t count = 0;
    int word = 0;
    judge(read(sets[i][2], &count, sizeof count) == sizeof count && count == i + 15, 103);
    judge(read(sets[i][3], &word, sizeof word) == sizeof word && word == static_cast<int>(i), 104);
  }
  for (const int number : many.opened) judge(close(number) == 0, 105);
  return sum;
}

/// The stack grows far beyond its former and its usual size.
__attribute__((noinline)) Result dig(int depth, int deepest) {
  volatile char frame[8000];
  frame[0] = static_cast<char>(depth);
  frame[7999] = static_cast<char>(depth + 1);
  if (depth == deepest) pause_ms(4);
  const Result below = depth == deepest ? 1 : dig(depth + 1, deepest);
  judge(frame[0] == static_cast<char>(depth) && frame[7999] == static_cast<char>(depth + 1), 110);
  return mix(below + static_cast<Result>(depth));
}
Result digs() {
  rlimit limit{};
  judge(getrlimit(RLIMIT_STACK, &limit) == 0, 111);
  limit.rlim_cur = std::min<rlim_t>(48 << 20, limit.rlim_max);
  judge(setrlimit(RLIMIT_STACK, &limit) == 0, 112);
  Result sum = 0;
  for (int round = 1; round <= 40; ++round) {
    sum = mix(sum + dig(0, round * 100));
    pause_ms(1);
  }
  return sum;
}

/// Libraries are loaded and closed again, also a second copy beside the first.
Result libraries() {
  char name[4096];
  const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 64);
  if (length < 0) _exit(6);
  std::string path(name, static_cast<std::size_t>(length));
  path = path.substr(0, path.rfind('/') + 1) + "libunusual_part.so";
  using Step = std::uint64_t (*)(std::uint64_t);
  const auto step_of = [](void* library) { return reinterpret_cast<Step>(dlsym(library, "part_step")); };
  void* const kept = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (kept == nullptr) _exit(7);
  Result sum = 0;
  for (std::uint64_t round = 1; round <= 12; ++round) {
    void* const other = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const mathematics = dlopen("libm.so.6", RTLD_LAZY);
    if (other == nullptr || mathematics == nullptr) {
      std::fprintf(stderr, "libraries: %s\n", dlerror());
      _exit(8);
    }
    pause_ms(4);
    judge(step_of(other)(round) == 1 * 31 + 11 + round, 120);
    Result of_thread = 0;
    std::thread thread([&] { of_thread = step_of(kept)(round); });
    thread.join();
    sum = mix(sum + of_thread + step_of(kept)(round));
    judge(reinterpret_cast<double (*)(double)>(dlsym(mathematics, "floor"))(3.75) == 3.0, 121);
    pause_ms(4);
    judge(dlclose(other) == 0 && dlclose(mathematics) == 0, 122);
  }
  return sum;
}

/// Code is generated at run time: in pages that are always writable and executable, and in pages that change between
/// both. A third kind has two views of the same memory.
using Made = int (*)();
std::array<unsigned char, 6> code_of(int value) {
  std::array<unsigned char, 6> code = {0xb8, 0, 0, 0, 0, 0xc3};  // mov $value, %eax; ret
  std::memcpy(&code[1], &value, sizeof value);
  return code;
}
int run(const unsigned char* at) { return reinterpret_cast<Made>(reinterpret_cast<std::uintptr_t>(at))(); }
Result generated() {
  constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;
  unsigned char* const both = map_pages(4, kAll);
  unsigned char* const by_turns = map_pages(4);
  const int memory = memfd_create("code", MFD_CLOEXEC);
  judge(memory >= 0 && ftruncate(memory, 4 * kPage) == 0, 130);
  unsigned char* const writes = map_pages(4, PROT_READ | PROT_WRITE, MAP_SHARED, memory);
  unsigned char* const runs = map_pages(4, PROT_READ | PROT_EXEC, MAP_SHARED, memory);
  Result sum = 0;
  for (int round = 1; round <= 80; ++round) {
    const auto code = code_of(round);
    const std::size_t at = mix(static_cast<Result>(round)) % (4 * kPage - 8);
    for (unsigned char* place : {both, writes}) std::memcpy(place + at, code.data(), code.size());
    judge(mprotect(by_turns, 4 * kPage, PROT_READ | PROT_WRITE) == 0, 131);
    std::memcpy(by_turns + at, code.data(), code.size());
    judge(mprotect(by_turns, 4 * kPage, PROT_READ | PROT_EXEC) == 0, 132);
    pause_ms(2);
    judge(run(both + at) == round && run(by_turns + at) == round && run(runs + at) == round, 133);
    sum = mix(sum + static_cast<Result>(run(runs + at)) + at);
  }
  return sum;
}

/// Pages with content are inaccessible. A thread that touches one gets SIGSEGV, and the handler opens the page.
constexpr std::size_t kGuarded = 64;
unsigned char* guarded_pages = nullptr;
volatile sig_atomic_t opened_pages = 0;
void open_page(int, siginfo_t* information, void*) {
  auto* const at = static_cast<unsigned char*>(information->si_addr);
  if (at < guarded_pages || at >= guarded_pages + kGuarded * kPage) _exit(9);
  if (mprotect(guarded_pages + static_cast<std::size_t>(at - guarded_pages) / kPage * kPage, kPage,
               PROT_READ | PROT_WRITE) != 0)
    _exit(10);
  opened_pages = opened_pages + 1;
}
Result guarded() {
  guarded_pages = map_pages(kGuarded);
  struct sigaction action = {};
  action.sa_sigaction = open_page;
  action.sa_flags = SA_SIGINFO;
  judge(sigaction(SIGSEGV, &action, nullptr) == 0, 140);
  Result sum = 0;
  for (int round = 1; round <= 30; ++round) {
    for (std::size_t page = 0; page < kGuarded; ++page)
      guarded_pages[page * kPage + 5] += static_cast<unsigned char>(page);
    judge(mprotect(guarded_pages, kGuarded * kPage, PROT_NONE) == 0, 141);
    pause_ms(5);
    for (std::size_t page = 0; page < kGuarded; page += 2) sum = mix(sum + guarded_pages[page * kPage + 5]);
    pause_ms(2);
    judge(opened_pages >= static_cast<int>(round * kGuarded / 2), 142);
  }
  return sum + static_cast<Result>(opened_pages);
}

/// Memory grows downwards on use, and is no thread's stack.
Result grows_down() {
  constexpr std::size_t kRoom = 4096, kBegin = 8;
  unsigned char* const room = map_pages(kRoom, PROT_NONE);
  unsigned char* const end = room + kRoom * kPage;
  judge(munmap(room, kRoom * kPage) == 0, 150);
  void* const made = mmap(end - kBegin * kPage, kBegin * kPage, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
  if (made == MAP_FAILED) _exit(11);
  Result sum = 0;
  for (std::size_t page = 1; page <= 160; ++page) {
    end[-static_cast<std::ptrdiff_t>(page * kPage)] = static_cast<unsigned char>(page);
    pause_ms(1);
    for (std::size_t before = 1; before <= page; ++before) {
      const unsigned char found = end[-static_cast<std::ptrdiff_t>(before * kPage)];
      judge(found == static_cast<unsigned char>(before), 151);
      sum = sum * 31 + found;
    }
  }
  return sum;
}

/// Returns the kernel's flags (VmFlags) of the mapping at an address.
std::string flags_at(const void* address) {
  FILE* const file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) _exit(12);
  char line[8192];
  bool here = false;
  std::string flags;
  while (flags.empty() && std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2) here = begin == reinterpret_cast<std::uintptr_t>(address);
    if (here && std::strncmp(line, "VmFlags:", 8) == 0) flags = line + 8;
  }
  std::fclose(file);
  std::string known;  // `sd` and others come and go by themselves; `uw` belongs to a tracker of our writes
  for (std::size_t at = 1; at + 2 < flags.size(); at += 3)
    if (const std::string flag = flags.substr(at, 2); flag != "sd" && flag != "uw") known += flag + " ";
  return known;
}

/// Advice for mappings stays, as their content does.
Result advised() {
  constexpr std::array kAdvice = {MADV_DONTDUMP, MADV_WIPEONFORK, MADV_DONTFORK,   MADV_NOHUGEPAGE,
                                  MADV_HUGEPAGE, MADV_RANDOM,     MADV_SEQUENTIAL, MADV_MERGEABLE};
  std::vector<unsigned char*> maps;
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < kAdvice.size() + 1; ++i) {
    unsigned char* const map = map_pages(7) + kPage;
    judge(mprotect(map - kPage, kPage, PROT_NONE) == 0 && mprotect(map + 5 * kPage, kPage, PROT_NONE) == 0, 160);
    if (i < kAdvice.size()) {
      (void)madvise(map, 5 * kPage, kAdvice[i]);  // a kernel may lack one of them
    } else {
      judge(mlock(map, 5 * kPage) == 0 || errno == ENOMEM || errno == EPERM, 161);
    }
    std::memset(map, static_cast<int>(i) + 1, 5 * kPage);
    maps.push_back(map);
    flags.push_back(flags_at(map));
    judge(!flags.back().empty(), 162);
  }
  Result sum = 0;
  for (int round = 0; round < 30; ++round) {
    pause_ms(5);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      judge(flags_at(maps[i]) == flags[i], 163);
      sum = sum * 31 + maps[i][static_cast<std::size_t>(round) * 500];
      judge(maps[i][static_cast<std::size_t>(round) * 500] == i + 1, 164);
    }
  }
  return sum;
}

/// Children come and go all the time. Between two of them the program has none, and can be captured.
Result breeds() {
  Result sum = 0;
  for (int round = 0; round < 120; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      pause_ms(1);
      _exit(round % 100);
    }
    int status = 0;
    pid_t ended = 0;
    do ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    judge(child > 0 && ended == child && WIFEXITED(status) && WEXITSTATUS(status) == round % 100, 180);
    sum = mix(sum + static_cast<Result>(WEXITSTATUS(status)));
    for (int i = 0; i < 4'000'000; ++i) asm volatile("" : : : "memory");
  }
  return sum;
}

/// Whether the code around each of the C library's calls shows which call it is (models/process/registers.hpp). Since
/// glibc 2.41, cancellable calls share one place.
constexpr bool kCallsAreKnown =
#if defined(__x86_64__) && defined(__GLIBC__) && !__GLIBC_PREREQ(2, 41)
    true;
#else
    false;
#endif

/// Timed calls last longer than several captures take. None may end early.
Result long_waits() {
  constexpr int kTimes = 8, kWait_ms = 45;
  const timespec wait{0, kWait_ms * 1'000'000};
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * std::int64_t{1'000} + time.tv_nsec / 1'000'000;
  };
  std::atomic<Result> sum{0};
  const auto repeat = [&](int number, auto call) {
    return std::thread([&, number, call] {
      for (int time = 0; time < kTimes; ++time) {
        const std::int64_t begun = now();
        const bool good = call(), interrupted = !kCallsAreKnown && errno == EINTR;
        judge(good || interrupted, number);
        judge(now() - begun >= kWait_ms - 1 || interrupted, number);
        sum += mix(static_cast<Result>(number * 100 + time));
      }
    });
  };
  std::vector<std::thread> threads;
  threads.push_back(repeat(190, [] { return poll(nullptr, 0, kWait_ms) == 0; }));
  // wait: these are what is interrupted
  threads.push_back(repeat(191, [=] { return nanosleep(&wait, nullptr) == 0; }));
  // wait: the same
  threads.push_back(repeat(192, [=] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr) == 0; }));
  threads.push_back(repeat(193, [=] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += wait.tv_nsec;
    if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_t condition;
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_lock(&mutex);
    const int ended = pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return ended == ETIMEDOUT;
  }));
  std::array<int, 2> ends{};
  judge(pipe(ends.data()) == 0, 194);
  std::thread without_end([&] {
    pollfd readable{ends[0], POLLIN, 0};
    int ready = 0;
    do ready = poll(&readable, 1, -1);
    while (ready < 0 && errno == EINTR && !kCallsAreKnown);
    judge(ready == 1, 195);
  });
  for (auto& thread : threads) thread.join();
  judge(write(ends[1], "x", 1) == 1, 196);
  without_end.join();
  return sum;
}

/// A parent in vfork, whose child shares its memory. It waits until the child ends, at SIGUSR1 to the process group.
Result in_vfork() {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  judge(sigprocmask(SIG_BLOCK, &set, &before) == 0, 170);
  volatile int word = 0;
  const pid_t child = vfork();
  if (child == 0) {
    siginfo_t information;
    while (sigwaitinfo(&set, &information) != SIGUSR1) {
    }
    word = 4711;
    _exit(23);
  }
  int status = 0;
  judge(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 23 && word == 4711, 171);
  return static_cast<Result>(word);
}

Result until_told() {
  std::vector<Result> words(8 * kPage);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  const timespec moment{0, 1'000'000};
  judge(sigprocmask(SIG_BLOCK, &set, nullptr) == 0, 175);
  std::printf("ready\n");
  std::fflush(stdout);
  Result rounds = 0;
  for (; sigtimedwait(&set, nullptr, &moment) != SIGUSR1; ++rounds)
    for (auto& word : words) judge(word++ == rounds, 176);
  return 1;
}

const std::map<std::string, Result (*)()>& programs() {
  static const std::map<std::string, Result (*)()> all = {{"advised", advised},
                                                          {"breeds", breeds},
                                                          {"digs", digs},
                                                          {"five_hundred", five_hundred},
                                                          {"four_thousand", four_thousand},
                                                          {"generated", generated},
                                                          {"grows_down", grows_down},
                                                          {"guarded", guarded},
                                                          {"in_flight", in_flight},
                                                          {"libraries", libraries},
                                                          {"long_waits", long_waits},
                                                          {"pending_alarm", pending_alarm},
                                                          {"robust", robust},
                                                          {"thousand_descriptors", thousand_descriptors},
                                                          {"thread_memory", thread_memory},
                                                          {"wide", wide}};
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    for (const auto& [name, program] : programs()) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto found = programs().find(arguments[1]);
  const std::map<std::string, Result (*)()> told = {{"in_vfork", in_vfork}, {"until_told", until_told}};
  const auto waits = told.find(arguments[1]);
  if (found == programs().end() && waits == told.end()) return 2;
  std::printf("begun\n");
  std::fflush(stdout);
  const Result result = waits != told.end() ? waits->second() : found->second();
  std::printf("%s %016llx, wrong %d\n", arguments[1], static_cast<unsigned long long>(result), wrong.load());
  return wrong.load();
}
