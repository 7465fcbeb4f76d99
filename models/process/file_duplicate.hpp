#pragma once
// Duplicates in this process of what another one has open.
#include <sys/types.h>

#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::process {

class FileDuplicates {
 public:
  /// Needs what tracing needs: the same user, or CAP_SYS_PTRACE.
  static base::Result<FileDuplicates> of(pid_t process);
  /// Shares offset and flags with the original: they are read, never set. Empty: it was closed.
  base::Result<os::Fd> duplicate(int number) const;

 private:
  FileDuplicates(pid_t process, os::Fd reference) : process_(process), reference_(std::move(reference)) {}
  pid_t process_;
  os::Fd reference_;
};

}  // namespace perdure::process
