#pragma once
// Facts about this machine and this process.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::os {

std::uint64_t total_memory_bytes();      ///< of the machine, or of our cgroup if that is less
std::uint64_t machine_memory_bytes();    ///< whatever our cgroup says
std::uint64_t job_memory_limit_bytes();  ///< the least of our cgroup and those above it; UINT64_MAX: none says one
std::uint64_t available_memory_bytes();  ///< MemAvailable, or what our cgroup leaves if that is less
std::string host_name();
std::string boot_id();  ///< another one after each start of the machine; empty where the kernel does not say
/// Tells hosts apart even when their names are equal: host name and boot id.
std::string host_identity();
/// Tells apart where process numbers mean different processes: host_identity() and the name space of this process.
std::string process_space();
std::string kernel_release();  ///< "6.1.0-18-amd64"
std::string processor_name();  ///< the first processor's model; "unknown" where the kernel does not say
unsigned cpu_count();          ///< processors this process may use
/// Processors for this process that no thread of this machine wants now; the asking one counts as one. The answer is up
/// to a millisecond old; all of them where the system does not say.
unsigned idle_processors();
std::uint32_t user_id();
std::int32_t process_id();
bool process_alive(std::int32_t pid);
/// When the process began, in the kernel's count since its boot: with the number it names one process. 0: there is
/// none.
std::uint64_t process_started(std::int32_t pid);
/// The process of this number that began then lives. Where the system hides when others began, any of that number does.
bool process_lives(std::int32_t pid, std::uint64_t started);
std::string user_name();  ///< of this user, or the number as text
std::string user_name(std::uint32_t user);
std::uint64_t random_u64();     ///< from the system's random source
std::uint64_t wall_clock_ns();  ///< since 1970
std::uint64_t monotonic_ns();
/// For tests: shifts this clock of this process by the given time. Waits are not affected.
void shift_wall_clock(std::int64_t nanoseconds);
void shift_monotonic_clock(std::int64_t nanoseconds);
void sleep_ns(std::uint64_t nanoseconds);
std::string library_path();  ///< of the shared object or program that contains this function

}  // namespace perdure::os
