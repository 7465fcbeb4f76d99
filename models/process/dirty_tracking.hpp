#pragma once
// Finds the pages that a running process writes. The kernel write-protects pages, and lifts the protection from a page
// when it is written. It uses userfaultfd in its asynchronous mode, without a handler. So the process never waits for
// us, whatever happens to us.
#include <sys/types.h>

#include <vector>

#include "os/file.hpp"
#include "process/page_scan.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// Tracking ends with this object or with its process. The kernel then lifts all protection.
class DirtyTracking {
 public:
  /// Tracks the private anonymous memory of the process. The process opens the descriptor for this, and closes it
  /// again. PERDURE_UNSUPPORTED: the kernel is older than 6.7, or the process may not use it.
  static base::Result<DirtyTracking> begin(Tracee& tracee);

  /// Returns the pages written since the last call, ascending. The first call returns all pages. The process may run.
  base::Result<std::vector<PageRun>> take_written();
  /// The process must stand still. New or moved memory does not count as unwritten.
  FollowedPages look(pid_t process) const;
  /// Lifts the protection in small parts, so that a running process is hardly delayed. Call it before tracking of a
  /// long-lived process ends. Otherwise the end lifts all protection at once, and delays the process.
  void unprotect();

 private:
  DirtyTracking(pid_t process, os::Fd faults) : process_(process), faults_(std::move(faults)) {}
  pid_t process_;
  os::Fd faults_;
  os::File pagemap_;
  std::vector<PageRun> followed_;
};

}  // namespace perdure::process
