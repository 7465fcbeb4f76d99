#pragma once
// Makes directories on other kinds of file systems than that of temporary files, mounted for a test.
#include <ostream>
#include <string>

#include "support/temporary_directory.hpp"

namespace perdure::test_support {

enum class FileSystem {
  usual,         ///< that of temporary files
  memory,        ///< tmpfs
  few_files,     ///< tmpfs with room for 16 files and directories
  overlay,       ///< overlayfs over that of temporary files
  sectors_of_4k  ///< ext4 on a device whose direct I/O needs 4 KiB sectors
};
std::string name_of(FileSystem kind);
inline void PrintTo(FileSystem kind, std::ostream* out) { *out << name_of(kind); }

/// An empty directory of the test's own. Only the thread that makes this object, and threads that it starts meanwhile,
/// see the mount. The mount ends with the object, and with the process, however that ends. Threads that the maker
/// started must end before the object.
class DirectoryOn {
 public:
  explicit DirectoryOn(FileSystem kind);
  ~DirectoryOn();
  DirectoryOn(const DirectoryOn&) = delete;
  DirectoryOn& operator=(const DirectoryOn&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Returns why there is no such file system here; empty: the directory is on one.
  const std::string& missing() const { return missing_; }

 private:
  bool enter_own_mounts();
  bool mount_at(const char* source, const char* type, const std::string& data = {});
  void mount_overlay();
  void mount_device();
  bool fails(const std::string& what);

  TemporaryDirectory directory_;
  std::string path_ = directory_.path();
  std::string missing_;
  int mounts_before_ = -1, working_before_ = -1;
};

}  // namespace perdure::test_support
