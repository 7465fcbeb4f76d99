#pragma once
// Opening again what is open, and files that are to be what they were.
#include <fcntl.h>

#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// The same file, as a new open file with these flags; nothing is made, cut or waited for.
base::Result<os::Fd> reopened(int fd, std::uint32_t flags, const std::string& object);
/// Sets those flags that can be set behind the opening.
base::Status set_flags(int fd, std::uint32_t flags, const std::string& object);
/// The path, if it is still of that kind (and that device): by O_PATH, which opens no device and waits for nobody.
base::Result<os::Fd> found(const NamedFile& file, const std::string& object);
/// How a regular file differs from what it was, as notes; hashes it where a hash was kept. Nothing of files of the
/// kernel (/proc, /sys).
base::Result<std::vector<std::string>> changes_of(const NamedFile& file, int fd);
/// For F_SETLK and F_OFD_SETLK.
struct flock record_of(const FileLock& lock);

}  // namespace perdure::process
