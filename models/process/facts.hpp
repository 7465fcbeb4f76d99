#pragma once
// What /proc says of a process and its threads that decides whether it can be captured.
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

/// From a thread's status.
struct StatusFacts {
  pid_t process = 0, thread = 0, parent = 0, tracer = 0;
  char state = '?';
  std::array<std::uint32_t, 4> users{}, groups{};  ///< real, effective, saved, of the file system
  unsigned seccomp = 0;                            ///< 0: off, 1: strict, 2: filters
  bool no_new_privileges = false;
  std::uint64_t capabilities = 0;  ///< effective
  bool has_shadow_stack = false;   ///< of return addresses (CET)
  bool tags_addresses = false;     ///< bits of addresses that mean nothing (LAM)
};
/// Nothing when a line is missing, or is not understood.
std::optional<StatusFacts> parse_status(std::string_view text);

/// Kinds and what they are: "mnt" -> "mnt:[4026531832]".
using Namespaces = std::map<std::string, std::string>;

struct ThreadFacts {
  StatusFacts status;
  /// With the first thread that lives: other memory or signal handlers no thread of a process has.
  bool shares_descriptors = true, shares_directories = true;
  int policy = 0;                 ///< of the scheduler
  std::uint64_t core_cookie = 0;  ///< with whom it shares cores (PR_SCHED_CORE); 0: with anybody
};

struct ProcessFacts {
  pid_t process = 0;
  std::vector<ThreadFacts> threads;  ///< the process's own first; one that has ended may be among them
  std::string root;                  ///< its root directory, "/" mostly
  std::uint32_t personality = 0;
  bool is_64_bits = true;
  Namespaces namespaces, namespaces_here;  ///< its, and those of this process
  /// Processes that have its memory, its descriptors or its signal handlers, too: those of vfork, or clone.
  std::vector<pid_t> sharing;
  std::vector<pid_t> children;
  bool may_undo_semaphores = false;  ///< SEM_UNDO: its end would take back what it did
};

/// PERDURE_NOT_FOUND: no such process, or it has ended; PERDURE_PERMISSION: it may not be looked at. Nothing of it
/// changes.
base::Result<ProcessFacts> read_facts(pid_t process);
/// Once more, of one that stands still: what of it can have changed since it was looked at, and is read in no time. The
/// first thread speaks for all, and whoever traces it is nobody.
base::Result<ProcessFacts> read_facts_again(pid_t process);

}  // namespace perdure::process
