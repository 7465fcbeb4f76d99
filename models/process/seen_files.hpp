#pragma once
// Looks at the open files of a process from outside, running or not. It changes none of them.
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "process/descriptors.hpp"
#include "process/memory_maps.hpp"

namespace perdure::process {

/// An open file without its content, and facts that decide whether it can be captured.
struct SeenFile {
  OpenFile file;             ///< indexes in it are not set yet
  bool known = false;        ///< it can be captured by kind; otherwise `file.what` is LeftOut
  std::vector<int> numbers;  ///< ascending
  std::string link;          ///< its link in /proc/PID/fd
  std::uint64_t device = 0, inode = 0;
  std::uint64_t content_bytes = 0;  ///< content to be stored
  std::vector<pid_t> holders;       ///< other processes that have it, or its other end, open
  bool other_end_missing = false;   ///< of a pipe or socket pair: the other end is open, but not in this process
  bool other_end_closed = false;
  bool name_lost = false;  ///< its path now leads elsewhere, or nowhere
  bool on_huge_pages = false;
  bool lease = false;
  bool error_waits = false;        ///< a socket has a pending error
  bool carries_files = false;      ///< a socket carries descriptors
  bool watches_unseen = false;     ///< an epoll watches a file without a descriptor
  bool semaphore_unknown = false;  ///< the kernel does not tell for an eventfd: assumed to be no semaphore
  std::string passing;             ///< a temporary obstacle: "connections wait in it"
  std::string socket;              ///< the kind of a socket that is no pair
  std::uint64_t peer = 0;          ///< inode of the peer
};

struct SeenFiles {
  pid_t process = 0;
  std::vector<Descriptor> descriptors;  ///< ascending; `file` is an index of `files`
  std::vector<SeenFile> files;
  /// Nameless mapped files that no other process has (map_holders.hpp).
  std::set<MappedFile> nameless;
  std::vector<std::string> asked_for;  ///< links for which other processes were searched, ascending
};

struct LookChoices {
  std::set<pid_t> inside = {};        ///< other processes that are captured with it
  const SeenFiles* before = nullptr;  ///< an earlier look; avoids another search of other processes
};

/// Ignores files that the process closes meanwhile. PERDURE_NOT_FOUND: there is no such process. PERDURE_PERMISSION: we
/// lack the rights of a tracer.
base::Result<SeenFiles> look_at_files(pid_t process, const LookChoices& choices = {});

}  // namespace perdure::process
