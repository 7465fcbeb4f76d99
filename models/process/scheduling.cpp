#include "process/scheduling.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace perdure::process {

SchedulingAttributes scheduling_of(pid_t thread) {
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) != 0) return {};
  return attributes;
}

SchedulingAttributes with_use(SchedulingAttributes attributes, std::uint32_t least, std::uint32_t most) {
  constexpr std::uint64_t kKeepsRest = 0x18, kLeast = 0x20, kMost = 0x40;  // SCHED_FLAG_*
  attributes.bytes = sizeof attributes;
  attributes.flags |= kKeepsRest | kLeast | kMost;
  attributes.least_use = least;
  attributes.most_use = most;
  return attributes;
}

int set_use(pid_t thread, std::uint32_t least, std::uint32_t most) {
  const SchedulingAttributes attributes = with_use(scheduling_of(thread), least, most);
  return ::syscall(SYS_sched_setattr, thread, &attributes, 0) == 0 ? 0 : errno;
}

}  // namespace perdure::process
