#pragma once
// Which pages of a process were written since they were looked at, while it runs. The kernel write-protects pages and
// takes the protection from a page by itself when it is written (userfaultfd, write protection that needs no handler):
// whatever becomes of us, the process never waits for anybody.
#include <sys/types.h>

#include <vector>

#include "os/file.hpp"
#include "process/page_scan.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// Ends with this, or with the process that has it: then the kernel takes all protection away.
class DirtyTracking {
 public:
  /// Of the memory that is the process's own and no file's. The process is made to open the descriptor that this needs,
  /// and to close it again. PERDURE_UNSUPPORTED: the kernel cannot (it is older than 6.7), or the process may not.
  static base::Result<DirtyTracking> begin(Tracee& tracee);

  /// Pages that were written since the last call, ascending; at the first one all that there are. The process may run.
  base::Result<std::vector<PageRun>> take_written();
  /// The process stands still. Memory that has come since, or that was moved, is not unwritten.
  FollowedPages look(pid_t process) const;
  /// Takes the protection away in small parts, between which a process that runs is not kept from anything. To be
  /// called before the end of a long-lived process's tracking, which does it at once else.
  void unprotect();

 private:
  DirtyTracking(pid_t process, os::Fd faults) : process_(process), faults_(std::move(faults)) {}
  pid_t process_;
  os::Fd faults_;
  os::File pagemap_;
  std::vector<PageRun> followed_;
};

}  // namespace perdure::process
