#pragma once
// System V semaphores that the kernel takes back what a process did to them when it ends (SEM_UNDO).
#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace perdure::process {

/// A set of them.
struct SemaphoreSet {
  std::int32_t id = 0;
  std::uint32_t permissions = 0, user = 0, group = 0, maker = 0, makers_group = 0;
  bool used = false;  ///< somebody has operated on it
  friend bool operator==(const SemaphoreSet&, const SemaphoreSet&) = default;
};

/// Reads the text of /proc/sysvipc/sem, and leaves out lines that it does not understand. Pure.
std::vector<SemaphoreSet> parse_semaphores(std::string_view text);

/// Whether a process with this status (/proc/PID/status) may have changed it. Pure.
bool may_have_changed(const SemaphoreSet& set, std::string_view status);

/// Whether the kernel would take back what the process did to a semaphore: it has a list for that, as every process of
/// several threads has, and there is a set that it may have changed.
bool may_undo_semaphores(pid_t process);

}  // namespace perdure::process
