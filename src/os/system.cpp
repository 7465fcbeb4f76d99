// Hooks see none of these calls: they read facts of the kernel, never a file of ours.
#include "os/system.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

#include "os/cgroup.hpp"

namespace perdure::os {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns a field of /proc/meminfo in bytes; 0 if it is missing.
std::uint64_t meminfo_bytes(const std::string& field) {
  std::istringstream lines(read_text("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(field + ":", 0) == 0) return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
  return 0;
}

MemoryLimit our_limit() { return cgroup_memory(read_text("/proc/self/cgroup"), "/sys/fs/cgroup"); }

std::atomic<std::int64_t> wall_clock_shift{0}, monotonic_shift{0};

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string program_path() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  return length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

std::uint64_t total_memory_bytes() { return std::min(meminfo_bytes("MemTotal"), our_limit().limit_bytes); }

std::uint64_t machine_memory_bytes() { return meminfo_bytes("MemTotal"); }

std::uint64_t job_memory_limit_bytes() { return our_limit().limit_bytes; }

std::uint64_t available_memory_bytes() { return std::min(meminfo_bytes("MemAvailable"), our_limit().available_bytes); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> buffer{};
  return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "localhost";
}

std::string boot_id() {
  std::istringstream boot(read_text("/proc/sys/kernel/random/boot_id"));
  std::string id;
  boot >> id;
  return id;
}

std::string process_space() {
  std::array<char, 64> link{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", link.data(), link.size() - 1);
  return host_identity() + "/" + (length > 0 ? link.data() : "pid");
}

std::string host_identity() { return host_name() + "/" + boot_id(); }

std::string kernel_release() {
  utsname facts{};
  return ::uname(&facts) == 0 ? facts.release : "unknown";
}

std::string processor_name() {
  std::istringstream lines(read_text("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

unsigned idle_processors() {
  constexpr std::uint64_t kFresh = 1'000'000;
  static std::atomic<std::uint64_t> looked_at = 0;
  static std::atomic<unsigned> idle = 0;
  const std::uint64_t now = monotonic_ns();
  if (now - looked_at.load() < kFresh) return idle;
  looked_at = now;
  std::ifstream file("/proc/loadavg");
  std::string minute, five_minutes, quarter_of_an_hour;
  unsigned running = 0;
  const bool said(file >> minute >> five_minutes >> quarter_of_an_hour >> running);
  const unsigned all = cpu_count();
  idle = said ? all - std::min(running, all) : all;
  return idle;
}

unsigned cpu_count() {
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) == 0) return static_cast<unsigned>(std::max(CPU_COUNT(&mine), 1));
  return std::max(std::thread::hardware_concurrency(), 1U);  // there are more processors than a cpu_set_t holds
}

std::uint32_t user_id() { return ::geteuid(); }

std::int32_t process_id() { return ::getpid(); }

bool process_alive(std::int32_t pid) {
  if (pid <= 0) return false;
  if (::kill(pid, 0) != 0) return errno == EPERM;
  // In "pid (name) state ..." the name may hold anything: parsing begins behind the last bracket. Z and X are dead.
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t bracket = stat.rfind(") ");
  if (bracket == std::string::npos || bracket + 2 >= stat.size()) return ::kill(pid, 0) == 0 || errno == EPERM;
  const char state = stat[bracket + 2];
  return state != 'Z' && state != 'X';
}

std::uint64_t process_started(std::int32_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t bracket = stat.rfind(") ");
  if (bracket == std::string::npos) return 0;
  std::istringstream fields(stat.substr(bracket + 2));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;  // proc(5): starttime is the 22nd
  std::uint64_t started = 0;
  fields >> started;
  return started;
}

bool process_lives(std::int32_t pid, std::uint64_t started) {
  if (!process_alive(pid)) return false;
  const std::uint64_t now = process_started(pid);
  return now == started || now == 0;
}

std::string user_name() { return user_name(user_id()); }

std::string user_name(std::uint32_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(user);
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  // Eight bytes come whole. The call fails only while a signal interrupts the wait for the pool at boot.
  while (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}

std::uint64_t wall_clock_ns() {
  return clock_ns(CLOCK_REALTIME) + static_cast<std::uint64_t>(wall_clock_shift.load(std::memory_order_relaxed));
}

std::uint64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(monotonic_shift.load(std::memory_order_relaxed));
}

void shift_wall_clock(std::int64_t nanoseconds) { wall_clock_shift += nanoseconds; }

void shift_monotonic_clock(std::int64_t nanoseconds) { monotonic_shift += nanoseconds; }

void sleep_ns(std::uint64_t nanoseconds) {
  timespec left{static_cast<time_t>(nanoseconds / 1'000'000'000U), static_cast<long>(nanoseconds % 1'000'000'000U)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

std::string library_path() {
  Dl_info info{};
  void* extra = nullptr;
  const int found = ::dladdr1(reinterpret_cast<const void*>(&library_path), &info, &extra, RTLD_DL_LINKMAP);
  const auto* map = static_cast<const link_map*>(extra);
  // Here the program itself has an empty name; dli_fname is only the name by which it was called.
  if (found == 0 || map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return program_path();
  std::array<char, PATH_MAX> real{};
  return ::realpath(map->l_name, real.data()) != nullptr ? real.data() : map->l_name;
}

}  // namespace perdure::os
