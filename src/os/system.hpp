#pragma once
// Returns facts about this machine and this process.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::os {

std::uint64_t total_memory_bytes();      ///< of the machine, or of our cgroup if that is less
std::uint64_t machine_memory_bytes();    ///< regardless of our cgroup
std::uint64_t job_memory_limit_bytes();  ///< the lowest limit of our cgroup and those above; UINT64_MAX: none
std::uint64_t available_memory_bytes();  ///< MemAvailable, or the rest in our cgroup if that is less
std::string host_name();
std::string boot_id();  ///< changes at each boot; empty if the kernel does not say
/// Tells hosts apart even if their names are equal: host name and boot id.
std::string host_identity();
/// Tells apart spaces in which process numbers mean different processes: host_identity() and this process's name space.
std::string process_space();
std::string kernel_release();  ///< "6.1.0-18-amd64"
std::string processor_name();  ///< the first processor's model; "unknown" if the kernel does not say
unsigned cpu_count();          ///< processors that this process may use
/// Returns how many of this process's processors no thread of the machine wants now; the caller's own counts as one.
/// The answer is up to a millisecond old; all processors if the system does not say.
unsigned idle_processors();
std::uint32_t user_id();
std::int32_t process_id();
bool process_alive(std::int32_t pid);
/// Returns when the process began, in the kernel's count since boot; 0 if there is no such process. Number and start
/// together identify a process.
std::uint64_t process_started(std::int32_t pid);
/// Whether the process of this number and start is alive. If the system hides others' starts, the number suffices.
bool process_lives(std::int32_t pid, std::uint64_t started);
std::string user_name();  ///< this user's name, or the number as text
std::string user_name(std::uint32_t user);
std::uint64_t random_u64();     ///< from the system's random source
std::uint64_t wall_clock_ns();  ///< since 1970
std::uint64_t monotonic_ns();
/// Does so in seconds.
inline double monotonic_s() { return static_cast<double>(monotonic_ns()) * 1e-9; }
/// For tests: shifts this process's wall clock by the given time. Waits are not affected.
void shift_wall_clock(std::int64_t nanoseconds);
void shift_monotonic_clock(std::int64_t nanoseconds);
void sleep_ns(std::uint64_t nanoseconds);
std::string library_path();  ///< the shared object or program that contains this function

}  // namespace perdure::os
