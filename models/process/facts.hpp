#pragma once
// Reads facts from /proc that decide whether a process can be captured.
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "process/kernel_ids.hpp"

namespace perdure::process {

/// Facts from /proc/PID/task/TID/status.
struct StatusFacts {
  pid_t process = 0, thread = 0, parent = 0, tracer = 0;
  char state = '?';
  std::array<std::uint32_t, 4> users{}, groups{};  ///< real, effective, saved, file system
  unsigned seccomp = 0;                            ///< 0: off, 1: strict mode, 2: filters
  bool no_new_privileges = false;
  std::uint64_t capabilities = 0;  ///< effective
  bool has_shadow_stack = false;   ///< of return addresses (CET)
  bool tags_addresses = false;     ///< some bits of addresses are ignored (LAM)
};
/// Returns nothing if a line is missing or malformed.
std::optional<StatusFacts> parse_status(std::string_view text);

/// Maps the kind to its link text: "mnt" -> "mnt:[4026531832]".
using Namespaces = std::map<std::string, std::string>;

struct ThreadFacts {
  StatusFacts status;
  /// Whether it shares these with the first living thread. All threads of a process share memory and signal handlers.
  bool shares_descriptors = true, shares_directories = true;
  int policy = 0;                 ///< of the scheduler
  std::uint64_t core_cookie = 0;  ///< the group that it shares cores with (PR_SCHED_CORE); 0: no limit
};

struct ProcessFacts {
  pid_t process = 0;
  std::vector<ThreadFacts> threads;  ///< the main thread first; a thread that has ended may be among them
  std::string root;                  ///< the root directory, usually "/"
  std::uint32_t personality = 0;
  bool is_64_bits = true;
  Namespaces namespaces, namespaces_here;  ///< of the process, and of this process
  /// Other processes that share its memory, descriptors or signal handlers, through vfork or clone.
  std::vector<pid_t> sharing;
  std::vector<pid_t> children;
  bool may_undo_semaphores = false;  ///< whether its end may undo semaphore operations (SEM_UNDO)
};

/// Changes nothing in the process. PERDURE_NOT_FOUND: there is no such process, or it has ended. PERDURE_PERMISSION: we
/// may not look at it.
base::Result<ProcessFacts> read_facts(pid_t process);
/// Reads again the facts that may have changed, of a process that stands still. It is fast: it asks the first thread
/// for all threads, and reports no tracer, because we trace it.
base::Result<ProcessFacts> read_facts_again(pid_t process);

}  // namespace perdure::process
