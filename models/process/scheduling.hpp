#pragma once
// Wraps sched_getattr and sched_setattr, which the C library may lack.
#include <sys/types.h>

#include <cstdint>

namespace perdure::process {

/// The kernel's struct sched_attr.
struct SchedulingAttributes {
  std::uint32_t bytes = 56, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
  std::uint32_t least_use = 0, most_use = 0;  ///< utilization clamps, in 1/1024 of a processor (uclamp)
};

/// Returns zeros if the kernel does not tell.
SchedulingAttributes scheduling_of(pid_t thread);
/// Returns attributes that set these clamps and nothing else. Pure.
SchedulingAttributes with_use(SchedulingAttributes attributes, std::uint32_t least, std::uint32_t most);
/// Sets these clamps and keeps all else. Returns 0 or an error number.
int set_use(pid_t thread, std::uint32_t least, std::uint32_t most);

}  // namespace perdure::process
