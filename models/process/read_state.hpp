#pragma once
// Reads a process's state (kernel_state.hpp). The kernel tells some of it to anybody, some only to the thread itself.
#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "process/kernel_state.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// A thread that stands still, and carries out calls for us.
struct AskedThread {
  pid_t process = 0, thread = 0;  ///< numbers, for us
  /// Carries out a call and returns its result; below 0: an error number.
  std::function<base::Result<std::int64_t>(const SystemCall&)> ask;
  std::uint64_t address = 0;  ///< memory of its own where a call may write 8 bytes
  /// Returns the 8 bytes at `address`.
  std::function<base::Result<std::uint64_t>()> value;
};

base::Result<ThreadState> read_thread_state(const AskedThread& thread);
base::Result<ProcessState> read_process_state(const AskedThread& thread);

/// `flags`: the kernel's own of a thread (/proc/PID/stat, field 9). Pure.
bool flushes_files(std::uint64_t flags);
/// Whether it has chosen what becomes of it where memory fails (PR_MCE_KILL). Pure.
bool chose_memory_failures(std::uint64_t flags);
/// Whether a thread may choose how it speculates: a value of /proc/PID/status, which else says what all have. Pure.
bool chooses_speculation(std::string_view status, std::uint32_t kind);
/// Registrations of membarrier. A kernel before 6.3 does not list them: then each is tried, which changes nothing.
base::Result<std::uint32_t> read_membarriers(const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask);

/// State that no image keeps, and that stands in the way of a capture. Only a process that stands still can be asked.
struct LostState {
  std::uint32_t protection_keys = 0;  ///< bit n: key n is its own (pkey_alloc)
  std::vector<pid_t> confined;        ///< threads that may not see a process of their own user (Landlock)
  bool told = true;                   ///< false: whether threads are confined could not be told
};
/// Keys of memory that the process has, but for the one of all. It changes nothing.
base::Result<std::uint32_t> read_protection_keys(
    const std::function<base::Result<std::int64_t>(const SystemCall&)>& ask);

}  // namespace perdure::process
