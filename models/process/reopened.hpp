#pragma once
// Opens files again, and compares them with their state at the capture.
#include <fcntl.h>

#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// Opens the same file as a new open file with these flags. Creates and truncates nothing, and does not block.
base::Result<os::Fd> reopened(int fd, std::uint32_t flags, const std::string& object);
/// Sets those flags that can be changed after the open.
base::Status set_flags(int fd, std::uint32_t flags, const std::string& object);
/// Opens the path if it still has that type (and device number). Uses O_PATH, which opens no device and does not block.
base::Result<os::Fd> found(const NamedFile& file, const std::string& object);
/// Describes how a regular file changed since, as notes. It hashes the file if the image has a hash. Ignores files of
/// the kernel (/proc, /sys).
base::Result<std::vector<std::string>> changes_of(const NamedFile& file, int fd);
/// Returns the argument for F_SETLK and F_OFD_SETLK.
struct flock record_of(const FileLock& lock);

}  // namespace perdure::process
