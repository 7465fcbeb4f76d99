#pragma once
// The open files of a process as they can be seen from outside, running or not. Nothing of them changes.
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "process/descriptors.hpp"
#include "process/memory_maps.hpp"

namespace perdure::process {

/// What is kept of an open file, but for its content, and what decides whether it can be kept.
struct SeenFile {
  OpenFile file;             ///< indexes mean nothing yet
  bool known = false;        ///< it is of a kind that can be kept; otherwise `file.what` is LeftOut
  std::vector<int> numbers;  ///< ascending
  std::string link;          ///< what /proc/PID/fd says
  std::uint64_t device = 0, inode = 0;
  std::uint64_t content_bytes = 0;  ///< that would be carried along
  std::vector<pid_t> holders;       ///< other processes that have it, or its other end
  bool other_end_missing = false;   ///< of a pipe, or pair of sockets: it is open, and not in this process
  bool other_end_closed = false;
  bool name_lost = false;  ///< its path leads elsewhere, or nowhere, by now
  bool on_huge_pages = false;
  bool lease = false;
  bool error_waits = false;        ///< in a socket
  bool carries_files = false;      ///< in a socket, for others
  bool watches_unseen = false;     ///< an epoll: a file that no descriptor means
  bool semaphore_unknown = false;  ///< an eventfd: assumed to be none
  std::string passing;             ///< what stands in the way for a moment only: "connections wait in it"
  std::string socket;              ///< what kind of socket it is, where it is none of a pair
  std::uint64_t peer = 0;          ///< inode
};

struct SeenFiles {
  pid_t process = 0;
  std::vector<Descriptor> descriptors;  ///< ascending; `file`: index of `files`
  std::vector<SeenFile> files;
  /// Files without a name that it has mapped, and no other process has them (map_holders.hpp).
  std::set<MappedFile> nameless;
  std::vector<std::string> asked_for;  ///< links by which other processes were looked through; ascending
};

struct LookChoices {
  std::set<pid_t> inside = {};        ///< other processes that are captured with it
  const SeenFiles* before = nullptr;  ///< seen earlier: what other processes had is not looked for again
};

/// PERDURE_NOT_FOUND: no such process; PERDURE_PERMISSION: it may not be looked at as whoever traces it may. What the
/// process closes meanwhile is left out.
base::Result<SeenFiles> look_at_files(pid_t process, const LookChoices& choices = {});

}  // namespace perdure::process
