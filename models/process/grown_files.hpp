#pragma once
// Handles files that grew after the capture. A resume may cut them back to their old size, and keeps the rest.
#include <sys/types.h>

#include <string>
#include <vector>

#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// Collects such files while a resume makes its descriptors. Changes no file before cut_back().
class GrownFiles {
 public:
  /// Adds `file` if it is a regular file and longer than at the capture. `fd` is open on it here, also by O_PATH.
  /// Ignores a file that was added before. `object` names the file in errors. Fails if this process may not write the
  /// file.
  base::Status add(int fd, const NamedFile& file, const std::string& object);
  bool empty() const { return files_.empty(); }
  /// Returns PERDURE_BUSY if another process has one of the files open for writing: the captured program may still run.
  /// This process and its ancestors may write them, because they write the same log.
  base::Status check_writers() const;
  /// Copies the tail of each file to PATH.cut-VERSION beside it, with a number added if that exists. Syncs the copies
  /// before it cuts any file. Returns notes for people. If a copy fails, no file changes and no copy remains. If a file
  /// cannot be cut, the error names it. Files that were cut before it stay cut, and their tails are in the copies.
  base::Result<std::vector<std::string>> cut_back(std::int64_t version) const;

 private:
  struct Grown {
    os::File file;
    std::uint64_t bytes = 0;  // at the capture
    os::FileIdentity identity;
    std::string object;
  };
  std::vector<Grown> files_;
};

}  // namespace perdure::process
