#pragma once
// Reads from the kernel how often threads of this process wake up, and for how long they sleep.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace perdure::test_support {

/// Returns all threads of this process, by number.
inline std::set<int> threads() {
  std::set<int> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(std::stoi(task.path().filename()));
  return all;
}

/// Reads /proc/self/task/N/status at once; empty if the thread has ended.
inline std::string thread_status(int thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  return {std::istreambuf_iterator<char>(status), {}};
}

/// Returns the value of a line of that status.
inline std::string status_line(const std::string& status, const std::string& key) {
  const auto begin = status.find("\n" + key + ":\t");
  if (begin == std::string::npos) return {};
  const auto value = begin + key.size() + 3;
  return status.substr(value, status.find('\n', value) - value);
}

/// Returns how often each running thread, except `others`, has gone to sleep since it began. A thread that wakes up and
/// sleeps again counts once more.
inline std::map<int, std::uint64_t> sleeps(const std::set<int>& others) {
  std::map<int, std::uint64_t> times;
  for (const int thread : threads())
    if (!others.contains(thread))
      times[thread] = std::stoull("0" + status_line(thread_status(thread), "voluntary_ctxt_switches"));
  return times;
}

namespace sleeping {

using Limit = std::chrono::milliseconds;

inline Limit of_count(unsigned long milliseconds) {
  const auto count = static_cast<int>(milliseconds);
  return count < 0 ? Limit::max() : Limit(count);
}

/// Returns the limit from a timespec at `at` in another thread's call; `at` may be null. `since`: the timespec is an
/// absolute time of this clock.
inline Limit of_time(unsigned long at, const clockid_t* since) {
  if (at == 0) return Limit::max();
  timespec until{}, now{};
  iovec here{&until, sizeof until}, there{reinterpret_cast<void*>(at), sizeof until};
  // Hides the read from the compiler, because the other thread does not expect it.
  if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != sizeof until) return {};
  if (since != nullptr) ::clock_gettime(*since, &now);
  return std::chrono::duration_cast<Limit>(std::chrono::seconds(until.tv_sec - now.tv_sec) +
                                           std::chrono::nanoseconds(until.tv_nsec - now.tv_nsec));
}

inline Limit of_futex(unsigned long operation, unsigned long at) {
  const bool until = (operation & FUTEX_CMD_MASK) != FUTEX_WAIT;
  const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  return of_time(at, until ? &clock : nullptr);
}

}  // namespace sleeping

/// Returns for how long a thread of this process sleeps at most, unless it is woken. Returns 0 if it is awake, or
/// sleeps in a call that is not listed here.
inline std::chrono::milliseconds longest_sleep(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  std::array<unsigned long, 4> arguments{};
  if (!(file >> number)) return {};
  for (auto& argument : arguments) file >> std::hex >> argument;
  switch (number) {
#ifdef SYS_poll
    case SYS_poll:
      return sleeping::of_count(arguments[2]);
    case SYS_epoll_wait:
      return sleeping::of_count(arguments[3]);
#endif
    case SYS_epoll_pwait:
      return sleeping::of_count(arguments[3]);
    case SYS_ppoll:
      return sleeping::of_time(arguments[2], nullptr);
    case SYS_futex:
      return sleeping::of_futex(arguments[1], arguments[3]);
    default:
      return {};
  }
}

/// Whether every thread but this one and `others` sleeps at least this long, unless it is woken.
inline bool all_sleep_for(std::chrono::milliseconds least, const std::set<int>& others) {
  for (const int thread : threads())
    if (thread != ::gettid() && !others.contains(thread) && longest_sleep(thread) < least) return false;
  return true;
}

}  // namespace perdure::test_support
