#pragma once
// Files that grew after the capture. A resume may cut them back to the size that they had, and keeps what it cuts off.
#include <sys/types.h>

#include <string>
#include <vector>

#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// Collects such files while a resume makes its descriptors, and changes none before cut_back().
class GrownFiles {
 public:
  /// Takes note of `file` when it is a regular file, open here as `fd` (also by O_PATH), and longer than it was.
  /// A file that was added before is passed over. `object` is for people. Fails when this process may not write it.
  base::Status add(int fd, const NamedFile& file, const std::string& object);
  bool empty() const { return files_.empty(); }
  /// PERDURE_BUSY when another process has one of the files open for writing: it may be the captured program, which
  /// still runs. This process and those that it descends from may: they write the same log.
  base::Status check_writers() const;
  /// Copies the tail of each file to PATH.cut-VERSION beside it (with a number behind when that exists), syncs the
  /// copies, and cuts the files then. Returns notes for people. When a copy fails, no file is changed and no copy
  /// stays. When a file cannot be cut, the error says so; what was cut before it stays cut, and is in its copy.
  base::Result<std::vector<std::string>> cut_back(std::int64_t version) const;

 private:
  struct Grown {
    os::File file;
    std::uint64_t bytes = 0;  // that it had
    os::FileIdentity identity;
    std::string object;
  };
  std::vector<Grown> files_;
};

}  // namespace perdure::process
