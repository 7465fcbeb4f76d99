#pragma once
// sched_getattr and sched_setattr, which the C library may not know.
#include <sys/types.h>

#include <cstdint>

namespace perdure::process {

/// As the kernel lays it out (struct sched_attr).
struct SchedulingAttributes {
  std::uint32_t bytes = 56, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
  std::uint32_t least_use = 0, most_use = 0;  ///< of a processor, in 1024 parts (uclamp)
};

/// Zeros where the kernel does not tell.
SchedulingAttributes scheduling_of(pid_t thread);
/// These bounds are to be set, and nothing else. Pure.
SchedulingAttributes with_use(SchedulingAttributes attributes, std::uint32_t least, std::uint32_t most);
/// These bounds, and all else as it is: 0, or an error number.
int set_use(pid_t thread, std::uint32_t least, std::uint32_t most);

}  // namespace perdure::process
