// These programs are always in the middle of something when they are captured. `awkward NAME` does what its name says,
// and checks itself meanwhile. It writes one line of result, and ends with status 0 only if all was right. Its output
// does not depend on its duration. Without arguments it lists the programs.
#include <emmintrin.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "judge.hpp"

namespace {

using Result = std::uint64_t;

std::int64_t in_ns(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

std::int64_t asked_of_the_kernel() {
  timespec time{};
  judge(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time) == 0, 140);
  return in_ns(time);
}

/// Clocks read through the vdso must agree with the kernel's. Droppable memory, where generators of random numbers keep
/// their state, must be unchanged or zero.
Result clocks() {
  constexpr int kDroppable = 8;
  constexpr std::int64_t kSlackNs = 1'000;
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, kDroppable | MAP_ANONYMOUS, -1, 0);
  auto* state = mapped == MAP_FAILED ? nullptr : static_cast<volatile int*>(mapped);
  for (int round = 1; round < 4'000; ++round) {
    if (state != nullptr) {
      judge(*state == 0 || *state == round - 1, 141);
      *state = round;
    }
    const std::int64_t before = asked_of_the_kernel();
    timespec time{};
    judge(clock_gettime(CLOCK_MONOTONIC, &time) == 0, 142);
    const std::int64_t after = asked_of_the_kernel();
    judge(before <= in_ns(time) + kSlackNs && in_ns(time) <= after + kSlackNs, 143);
    timeval day{};
    const time_t second = ::time(nullptr);
    judge(gettimeofday(&day, nullptr) == 0 && day.tv_sec >= second, 144);
    judge(clock_getres(CLOCK_MONOTONIC, &time) == 0 && sched_getcpu() >= 0, 145);
    if (round % 40 == 0) pause_ms(1);
  }
  return 1;
}

/// Several threads pass a number on to each other.
Result hands_on() {
  constexpr int kThreads = 6, kRounds = 30'000;
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  Result value = 1;
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me)
    threads.emplace_back([&, me] {
      for (;;) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn >= kRounds || turn % kThreads == me; });
        if (turn >= kRounds) return;
        value = mix(value + static_cast<Result>(me));
        ++turn;
        changed.notify_all();
      }
    });
  for (auto& thread : threads) thread.join();
  return value;
}

/// Calls block, with and without a time limit.
Result waits() {
  std::array<int, 2> ends{};
  judge(pipe(ends.data()) == 0, 20);
  const int set = epoll_create1(0);
  epoll_event event{EPOLLIN, {.u64 = 77}};
  judge(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, 21);
  std::atomic<Result> sum{0};
  std::atomic<bool> over{false};
  std::thread reader([&] {
    for (;;) {
      epoll_event got{};
      const int ready = epoll_wait(set, &got, 1, -1);
      if (ready < 0 && errno == EINTR) continue;
      judge(ready == 1 && got.data.u64 == 77, 22);
      std::uint32_t word = 0;
      const ssize_t read_bytes = read(ends[0], &word, sizeof word);
      judge(read_bytes == sizeof word, 23);
      if (word == 0 || read_bytes <= 0) return;
      sum += mix(word);
    }
  });
  std::thread poller([&] {
    while (!over) judge(poll(nullptr, 0, 3) == 0, 24);
  });
  for (std::uint32_t word = 1; word <= 60; ++word) {
    judge(write(ends[1], &word, sizeof word) == sizeof word, 25);
    pause_ms(3);
  }
  const std::uint32_t last = 0;
  judge(write(ends[1], &last, sizeof last) == sizeof last, 26);
  reader.join();
  over = true;
  poller.join();
  close(set);
  return sum;
}

volatile sig_atomic_t alarms = 0;
volatile sig_atomic_t nested = 0;
alignas(16) char other_stack[64 * 1024];

void on_alarm(int) {
  char here = 0;
  const bool on_it = &here >= other_stack && &here < other_stack + sizeof other_stack;
  judge(on_it, 30);
  errno = EDOM;
  alarms = alarms + 1;
  nested = 1;
  volatile double x = 2;
  for (int i = 0; i < 2000; ++i) x = std::sqrt(x) * 1.4142135623730951;
  judge(x > 1.99 && x < 2.01, 31);
  nested = 0;
  errno = 0;
}

/// A timer calls a handler on an alternate stack all the time.
Result handlers() {
  stack_t stack{};
  stack.ss_sp = other_stack;
  stack.ss_size = sizeof other_stack;
  judge(sigaltstack(&stack, nullptr) == 0, 32);
  struct sigaction action = {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  judge(sigaction(SIGALRM, &action, nullptr) == 0, 33);
  const itimerval often{{0, 1000}, {0, 1000}};
  judge(setitimer(ITIMER_REAL, &often, nullptr) == 0, 34);
  Result value = 1;
  while (alarms < 120) {
    for (int i = 0; i < 1000; ++i) value = value * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  const itimerval never{};
  judge(setitimer(ITIMER_REAL, &never, nullptr) == 0, 35);
  stack_t now{};
  judge(sigaltstack(nullptr, &now) == 0 && now.ss_sp == other_stack, 36);
  return static_cast<Result>(nested);
}

/// Blocked and pending signals of the process and of a thread are delivered once, in order.
std::atomic<int> values{0};
std::atomic<Result> order{0};
void on_queued(int, siginfo_t* information, void*) {
  order = mix(order + static_cast<Result>(information->si_value.sival_int));
  ++values;
}
Result pending() {
  struct sigaction action = {};
  action.sa_sigaction = on_queued;
  action.sa_flags = SA_SIGINFO;
  judge(sigaction(SIGRTMIN + 2, &action, nullptr) == 0 && sigaction(SIGUSR1, &action, nullptr) == 0, 40);
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 2);
  sigaddset(&set, SIGUSR1);
  for (int round = 0; round < 12; ++round) {
    judge(pthread_sigmask(SIG_BLOCK, &set, &before) == 0, 41);
    for (int i = 1; i <= 5; ++i) judge(sigqueue(getpid(), SIGRTMIN + 2, {.sival_int = i}) == 0, 42);
    judge(pthread_kill(pthread_self(), SIGUSR1) == 0, 43);
    pause_ms(12);
    sigset_t waiting;
    judge(sigpending(&waiting) == 0 && sigismember(&waiting, SIGUSR1) == 1, 44);
    const int had = values;
    judge(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0, 45);
    judge(values == had + 6, 46);
  }
  return order + static_cast<Result>(values);
}

/// A thread waits for signals with a temporary mask.
std::atomic<int> woken{0};
Result suspends() {
  struct sigaction action = {};
  action.sa_handler = [](int) { ++woken; };
  judge(sigaction(SIGUSR2, &action, nullptr) == 0, 50);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    sigset_t none;
    sigemptyset(&none);
    for (int i = 0; i < 40; ++i) judge(sigsuspend(&none) == -1 && errno == EINTR, 51);
    over = true;
  });
  const pthread_t thread = waiting.native_handle();
  for (int sent = 0; sent < 40; ++sent) {
    const int had = woken;
    judge(pthread_kill(thread, SIGUSR2) == 0, 52);
    while (woken == had) pause_ms(1);
    pause_ms(2);
  }
  waiting.join();
  return static_cast<Result>(woken.load());
}

/// Floating point and vector values are in registers only, with unusual rounding and masks.
Result registers() {
  const unsigned usual = _mm_getcsr();
  _mm_setcsr((usual & ~0x6000U) | 0x2000U);  // towards minus infinity
  typedef double Vector __attribute__((vector_size(16)));
  Vector a = {1, 2}, b = {0.1, 0.2}, c = {5, 6}, d = {1e-3, 1e-4};
  for (int i = 0; i < 30'000'000; ++i) {
    a = a * 0.999999 + b;
    b = b * 1.0000001 + d;
    c = c * 0.99999 + a;
    d = d * 0.9999999;
    asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
  }
  judge((_mm_getcsr() & 0x6000U) == 0x2000U, 60);
  _mm_setcsr(usual);
  Result sum = 0;
  for (int i = 0; i < 2; ++i) {
    std::uint64_t bits = 0;
    const double x = a[i] + b[i] + c[i] + d[i];
    std::memcpy(&bits, &x, sizeof bits);
    sum = mix(sum + bits);
  }
  return sum;
}

thread_local Result own = 0;
/// Exceptions are in flight, and threads have thread-local memory.
Result throws() {
  std::atomic<Result> sum{0};
  std::vector<std::thread> threads;
  for (unsigned me = 1; me <= 3; ++me)
    threads.emplace_back([&sum, me] {
      const std::function<void(int)> deeper = [&](int depth) {
        const std::vector<char> held(100, static_cast<char>(depth));
        if (depth == 0) throw std::runtime_error("up");
        deeper(depth - 1);
      };
      for (int round = 0; round < 4000; ++round) {
        try {
          deeper(20);
          judge(false, 70);
        } catch (const std::runtime_error& error) {
          judge(std::string(error.what()) == "up", 71);
          own = mix(own + me);
        }
      }
      sum += own;
    });
  for (auto& thread : threads) thread.join();
  return sum;
}

/// Many threads run, most of which wait.
Result crowd() {
  constexpr unsigned kThreads = 200;
  std::atomic<unsigned> word{0};
  std::atomic<Result> sum{0};
  std::vector<std::thread> threads;
  for (unsigned me = 0; me < kThreads; ++me)
    threads.emplace_back([&, me] {
      while (word.load() == 0) syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, nullptr, nullptr, 0);
      sum += mix(me);
      judge(syscall(SYS_gettid) != getpid(), 80);
    });
  pause_ms(150);
  word = 1;
  syscall(SYS_futex, &word, 1 /* FUTEX_WAKE */, kThreads, nullptr, nullptr, 0);
  for (auto& thread : threads) thread.join();
  return sum;
}

/// Mappings of all kinds have content, and change all the time.
Result mappings() {
  constexpr std::size_t kPage = 4096, kMaps = 1200;
  std::vector<char*> maps;
  for (std::size_t i = 0; i < kMaps; ++i) {
    auto* map =
        static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map == MAP_FAILED) return 0;
    map[kPage] = static_cast<char>(i);
    judge(mprotect(map, kPage, PROT_NONE) == 0 && mprotect(map + 2 * kPage, kPage, PROT_READ) == 0, 90);
    maps.push_back(map);
  }
  Result sum = 0;
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < kMaps; ++i) {
      char& byte = maps[i][kPage + static_cast<std::size_t>(round)];
      byte = static_cast<char>(maps[i][kPage] + round);
      if (i % 16 == 0) judge(mprotect(maps[i], kPage, round % 2 == 0 ? PROT_READ : PROT_NONE) == 0, 91);
    }
    pause_ms(1);
  }
  for (std::size_t i = 0; i < kMaps; ++i)
    for (std::size_t at = 0; at < kPage; ++at) sum = sum * 31 + static_cast<unsigned char>(maps[i][kPage + at]);
  return sum;
}

/// There are two views of the same memory, and a file with privately changed pages.
Result views() {
  constexpr std::size_t kBytes = 64 * 4096;
  const int memory = memfd_create("views", MFD_CLOEXEC);
  judge(memory >= 0 && ftruncate(memory, kBytes) == 0, 100);
  auto* first = static_cast<unsigned char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
  auto* second = static_cast<unsigned char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, memory, 0));
  close(memory);
  auto* anonymous =
      static_cast<unsigned char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (first == MAP_FAILED || second == MAP_FAILED || anonymous == MAP_FAILED) return 0;
  Result sum = 0;
  for (std::size_t round = 0; round < 120; ++round) {
    const std::size_t at = mix(round) % kBytes;
    first[at] = static_cast<unsigned char>(round);
    judge(second[at] == static_cast<unsigned char>(round), 101);
    anonymous[at] = static_cast<unsigned char>(round + 1);
    sum = mix(sum + second[at] + anonymous[at]);
    pause_ms(1);
  }
  for (std::size_t at = 0; at < kBytes; ++at) sum = sum * 31 + second[at] + anonymous[at];
  return sum;
}

/// The heap grows by brk, and the stack by use.
int dig(int depth) {
  volatile char frame[4000];
  frame[0] = static_cast<char>(depth);
  frame[3999] = static_cast<char>(depth + 1);
  const int below = depth == 0 ? 0 : dig(depth - 1);
  judge(frame[0] == static_cast<char>(depth) && frame[3999] == static_cast<char>(depth + 1), 110);
  return below + frame[0];
}
Result grows() {
  Result sum = 0;
  std::vector<std::vector<char>> kept;
  for (int round = 1; round <= 60; ++round) {
    void* before = sbrk(0);
    judge(sbrk(8192) == before, 111);
    std::memset(before, round, 8192);
    kept.emplace_back(20'000, static_cast<char>(round));
    sum =
        mix(sum + static_cast<Result>(dig(round * 12)) + static_cast<unsigned char>(static_cast<char*>(before)[8191]));
    pause_ms(2);
  }
  for (const auto& one : kept) sum += static_cast<unsigned char>(one[19'999]);
  return sum;
}

/// Process and thread numbers stay, as robust mutexes and raise() need.
Result numbers() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  const pid_t process = getpid();
  const auto thread = syscall(SYS_gettid);
  Result held = 0;
  for (int round = 0; round < 40; ++round) {
    judge(pthread_mutex_lock(&mutex) == 0, 120);
    judge(pthread_mutex_lock(&mutex) == EDEADLK, 121);
    pause_ms(3);
    judge(getpid() == process && syscall(SYS_gettid) == thread, 122);
    judge(pthread_mutex_unlock(&mutex) == 0, 123);
    ++held;
  }
  std::thread dies([&] { judge(pthread_mutex_lock(&mutex) == 0, 124); });  // with the mutex
  dies.join();
  pause_ms(30);
  judge(pthread_mutex_lock(&mutex) == EOWNERDEAD, 125);
  return held;
}

/// Timers of timer_create, which the C library knows by the kernel's ids; one of them was deleted.
std::atomic<int> ticks{0}, thread_ticks{0};
Result timers() {
  struct sigaction action = {};
  action.sa_sigaction = [](int, siginfo_t* information, void*) { ticks += information->si_value.sival_int; };
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  judge(sigaction(SIGRTMIN + 3, &action, nullptr) == 0, 130);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN + 3;
  event.sigev_value.sival_int = 1;
  timer_t first{}, gone{}, often{}, by_thread{};
  judge(timer_create(CLOCK_MONOTONIC, &event, &first) == 0 && timer_create(CLOCK_REALTIME, &event, &gone) == 0, 131);
  judge(timer_create(CLOCK_MONOTONIC, &event, &often) == 0 && timer_delete(gone) == 0, 132);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) { ++thread_ticks; };
  judge(timer_create(CLOCK_MONOTONIC, &event, &by_thread) == 0, 133);
  const itimerspec each{{0, 2'000'000}, {0, 2'000'000}};
  judge(timer_settime(often, 0, &each, nullptr) == 0 && timer_settime(by_thread, 0, &each, nullptr) == 0, 134);
  while (ticks < 60 || thread_ticks < 40) pause_ms(1);
  const itimerspec never{}, long_one{{0, 0}, {1000, 0}};
  itimerspec left{};
  judge(timer_settime(often, 0, &never, nullptr) == 0 && timer_settime(by_thread, 0, &never, nullptr) == 0, 135);
  judge(timer_settime(first, 0, &long_one, nullptr) == 0 && timer_gettime(first, &left) == 0, 136);
  judge(left.it_value.tv_sec >= 900, 137);
  judge(timer_delete(first) == 0 && timer_delete(often) == 0 && timer_delete(by_thread) == 0, 138);
  return 1;
}

/// Much written memory has only zeros, and its place changes, also in a private mapping of a file. Some memory is
/// inaccessible, and its content must stay.
Result zeros() {
  constexpr std::size_t kBlock = 64 * 1024, kBlocks = 48, kOfFile = 32 * 1024;
  const auto map = [](int flags, int file) {
    return static_cast<unsigned char*>(mmap(nullptr, kBlock * kBlocks, PROT_READ | PROT_WRITE, flags, file, 0));
  };
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const std::array<unsigned char*, 3> memories{map(MAP_PRIVATE | MAP_ANONYMOUS, -1),
                                               map(MAP_SHARED | MAP_ANONYMOUS, -1), map(MAP_PRIVATE, file)};
  close(file);
  for (auto* memory : memories) {
    judge(memory != MAP_FAILED, 140);
    if (wrong != 0) return 0;
    std::memset(memory, 0, memory == memories[2] ? kOfFile : kBlock * kBlocks);
  }
  unsigned char* const hidden = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  std::memset(hidden, 77, kBlock * kBlocks);
  judge(mprotect(hidden + kBlock, kBlock, PROT_NONE) == 0, 143);
  std::array<std::array<unsigned char, kBlocks>, 2> ends{};  // first and last byte of each
  Result sum = 0;
  for (std::size_t round = 0; round < 80; ++round) {
    const std::size_t changed = mix(round) % kBlocks;
    for (auto* memory : {memories[0], memories[1]}) {
      unsigned char* const block = memory + changed * kBlock;
      std::memset(block, 0, kBlock);
      block[0] = ends[0][changed] = round % 3 == 0 ? static_cast<unsigned char>(round + 1) : 0;
      block[kBlock - 1] = ends[1][changed] = round % 5 == 0 ? static_cast<unsigned char>(round + 2) : 0;
    }
    for (auto* memory : {memories[0], memories[1]})
      for (std::size_t i = 0; i < kBlocks; ++i)
        judge(memory[i * kBlock] == ends[0][i] && memory[(i + 1) * kBlock - 1] == ends[1][i] &&
                  std::memcmp(memory + i * kBlock + 1, memory + i * kBlock + 2, kBlock - 3) == 0,
              141);
    for (std::size_t at = 0; at < kOfFile; at += 512) judge(memories[2][at] == 0, 142);
    sum = mix(sum + ends[0][changed] + ends[1][changed]);
    pause_ms(1);
  }
  judge(mprotect(hidden + kBlock, kBlock, PROT_READ) == 0, 144);
  for (std::size_t at = 0; at < kBlock * kBlocks; ++at) judge(hidden[at] == 77, 145);
  return sum;
}

const std::map<std::string, Result (*)()>& programs() {
  static const std::map<std::string, Result (*)()> all = {
      {"clocks", clocks},       {"crowd", crowd},       {"grows", grows},     {"handlers", handlers},
      {"hands_on", hands_on},   {"mappings", mappings}, {"numbers", numbers}, {"pending", pending},
      {"registers", registers}, {"suspends", suspends}, {"throws", throws},   {"timers", timers},
      {"views", views},         {"waits", waits},       {"zeros", zeros}};
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    for (const auto& [name, program] : programs()) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto found = programs().find(arguments[1]);
  if (found == programs().end()) return 2;
  std::printf("begun\n");
  std::fflush(stdout);
  const Result result = found->second();
  std::printf("%s %016llx, wrong %d\n", arguments[1], static_cast<unsigned long long>(result), wrong.load());
  return wrong.load();
}
