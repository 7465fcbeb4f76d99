#pragma once
// Duplicates descriptors of another process into this one.
#include <sys/types.h>

#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::process {

class FileDuplicates {
 public:
  /// Needs the rights of a tracer: the same user, or CAP_SYS_PTRACE.
  static base::Result<FileDuplicates> of(pid_t process);
  /// The duplicate shares offset and flags with the original, so callers only read them. Empty: it was closed.
  base::Result<os::Fd> duplicate(int number) const;

 private:
  FileDuplicates(pid_t process, os::Fd reference) : process_(process), reference_(std::move(reference)) {}
  pid_t process_;
  os::Fd reference_;
};

}  // namespace perdure::process
