#pragma once
// Reads System V semaphores, and tells whether the end of a process may undo operations on them (SEM_UNDO).
#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace perdure::process {

/// A semaphore set.
struct SemaphoreSet {
  std::int32_t id = 0;
  std::uint32_t permissions = 0, user = 0, group = 0, maker = 0, makers_group = 0;
  bool used = false;  ///< some process has operated on it
  friend bool operator==(const SemaphoreSet&, const SemaphoreSet&) = default;
};

/// Parses /proc/sysvipc/sem, and ignores malformed lines. Pure.
std::vector<SemaphoreSet> parse_semaphores(std::string_view text);

/// Returns whether a process with this status (/proc/PID/status) may have changed the set. Pure.
bool may_have_changed(const SemaphoreSet& set, std::string_view status);

/// Returns whether the process's end may undo operations. It must have an undo list, as every multithreaded process
/// has, and there must be a set that it may have changed.
bool may_undo_semaphores(pid_t process);

}  // namespace perdure::process
