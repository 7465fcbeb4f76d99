#include "process/clocks.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>

#include "process/proc_text.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace perdure::process {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr const char* kOffsets = "/proc/self/timens_offsets";

std::int64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kSecond_ns + time.tv_nsec;
}

ClockImage offsets_of(const std::string& process) {
  return parse_offsets(proc_text("/proc/" + process + "/timens_offsets"));
}

/// Returns the offset of one clock; 0 if the text does not have it.
std::int64_t offset_in(const std::string& text, const char* clock) {
  const auto at = text.find(clock);
  long long seconds = 0, ns = 0;
  const std::string_view name(clock);
  if (at == std::string::npos || std::sscanf(text.c_str() + at + name.size(), "%lld %lld", &seconds, &ns) != 2)
    return 0;
  return seconds * kSecond_ns + ns;
}

}  // namespace

ClockImage parse_offsets(const std::string& text) {
  return {offset_in(text, "monotonic"), offset_in(text, "boottime")};
}

ClockImage clocks_of(pid_t process) {
  const ClockImage own = offsets_of("self"), its = offsets_of(std::to_string(process));
  return {now(CLOCK_MONOTONIC) + its.monotonic_ns - own.monotonic_ns,
          now(CLOCK_BOOTTIME) + its.boottime_ns - own.boottime_ns};
}

ClockImage shift_to(const ClockImage& captured, const ClockImage& here) {
  return {std::max<std::int64_t>(captured.monotonic_ns - here.monotonic_ns, 0),
          std::max<std::int64_t>(captured.boottime_ns - here.boottime_ns, 0)};
}

OffsetsText text_of_offsets(const ClockImage& offsets) {
  const auto seconds = [](std::int64_t ns) { return static_cast<long long>(ns / kSecond_ns - (ns % kSecond_ns < 0)); };
  const auto rest = [](std::int64_t ns) { return static_cast<long long>((ns % kSecond_ns + kSecond_ns) % kSecond_ns); };
  OffsetsText made;
  const int bytes = std::snprintf(made.text.data(), made.text.size(), "monotonic %lld %lld\nboottime %lld %lld\n",
                                  seconds(offsets.monotonic_ns), rest(offsets.monotonic_ns),
                                  seconds(offsets.boottime_ns), rest(offsets.boottime_ns));
  made.bytes = static_cast<std::size_t>(bytes);
  return made;
}

ClockImage offsets_with(const ClockImage& shift) {
  const ClockImage own = offsets_of("self");
  return {own.monotonic_ns + shift.monotonic_ns, own.boottime_ns + shift.boottime_ns};
}

int shift_children(const OffsetsText& offsets) {
  if (::syscall(SYS_unshare, CLONE_NEWTIME) != 0) return errno;
  const long file = ::syscall(SYS_openat, AT_FDCWD, kOffsets, O_WRONLY | O_CLOEXEC, 0);
  if (file < 0) return errno;
  const long put = ::syscall(SYS_write, file, offsets.text.data(), offsets.bytes);
  const int error = put < 0 ? errno : 0;
  (void)::syscall(SYS_close, file);
  return error;
}

base::Result<ShiftedChildren> ShiftedChildren::begin(const ClockImage& shift) {
  const ClockImage own = offsets_with({});
  if (const int error = shift_children(text_of_offsets(offsets_with(shift))); error != 0)
    return base::fail(base::errno_error(error, "make a name space of time", "this process"));
  return ShiftedChildren(own);
}

ShiftedChildren::ShiftedChildren(ShiftedChildren&& other) noexcept
    : own_(other.own_), active_(std::exchange(other.active_, false)) {}

// A multithreaded process cannot return to its old time name space. A new one with the same offsets has the same
// effect.
ShiftedChildren::~ShiftedChildren() {
  if (active_) (void)shift_children(text_of_offsets(own_));
}

}  // namespace perdure::process
