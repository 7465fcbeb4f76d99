#pragma once
// Reads the kernel state of a process (kernel_state.hpp). The kernel tells some of it to anybody, some only to the
// thread itself.
#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "process/kernel_state.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// A thread that stands still, and makes system calls for us.
struct AskedThread {
  pid_t process = 0, thread = 0;  ///< numbers in our name space
  /// Makes a call and returns its result; a negative result is an error number.
  std::function<base::Result<std::int64_t>(const SystemCall&)> ask;
  std::uint64_t address = 0;  ///< its own memory, for 8 bytes of a result
  /// Returns the 8 bytes at `address`.
  std::function<base::Result<std::uint64_t>()> value;
};

base::Result<ThreadState> read_thread_state(const AskedThread& thread);
base::Result<ProcessState> read_process_state(const AskedThread& thread);

/// `flags`: the kernel's flags of a thread (/proc/PID/stat, field 9). Pure.
bool flushes_files(std::uint64_t flags);
/// Returns whether it has set its policy for memory failures (PR_MCE_KILL). Pure.
bool chose_memory_failures(std::uint64_t flags);
/// Returns whether a thread may choose this kind of speculation. `status` (/proc/PID/status) otherwise has the system's
/// setting. Pure.
bool chooses_speculation(std::string_view status, std::uint32_t kind);
/// Returns the membarrier registrations. Kernels before 6.3 do not list them. There it tries each command, which
/// changes nothing.
base::Result<std::uint32_t> read_membarriers(const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask);

/// State that no image keeps, and that is an obstacle to a capture. Only a process that stands still can be asked for
/// it.
struct LostState {
  std::uint32_t protection_keys = 0;  ///< bit n: the process allocated key n (pkey_alloc)
  std::vector<pid_t> confined;        ///< threads that may not look at a process of their own user (Landlock)
  bool told = true;                   ///< false: it is unknown whether threads are confined
};
/// Returns the memory protection keys that the process has allocated, without the default key. It changes nothing.
base::Result<std::uint32_t> read_protection_keys(
    const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask);

}  // namespace perdure::process
