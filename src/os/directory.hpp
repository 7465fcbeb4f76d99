#pragma once
// Opens directories, and reaches their entries through the descriptor, never again by path. So renaming or replacing a
// parent directory misleads nobody.
#include <string>
#include <vector>

#include "os/file.hpp"

namespace perdure::os {

/// Names are single components. Links among them are never followed: PERDURE_PERMISSION if one stands in the place of a
/// directory or file. Thread-safe.
class Directory {
 public:
  /// Follows links in `path`, which is the caller's choice.
  static base::Result<Directory> open(const std::string& path);
  /// Fails with PERDURE_PERMISSION if it is a link or no directory.
  base::Result<Directory> open_directory(const std::string& name) const;
  base::Result<File> open_file(const std::string& name, Open mode) const;
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  base::Result<FileIdentity> identity() const;
  base::Result<FileIdentity> identity_of(const std::string& name) const;  ///< a link's own identity
  base::Result<std::vector<Entry>> list() const;                          ///< as list_directory does
  base::Result<bool> contains(const std::string& name) const;
  base::Status make_directory(const std::string& name) const;  ///< mode 0700; success if the name exists
  base::Status sync() const;
  base::Status remove_file(const std::string& name) const;            ///< success if it is not there
  base::Status remove_directory(const std::string& name) const;       ///< must be empty; success if it is not there
  base::Result<bool> remove_if_empty(const std::string& name) const;  ///< false if it is not empty
  /// Does what os::rename_to_free does.
  base::Status rename_to_free(const std::string& name, const Directory& to, const std::string& new_name) const;
  base::Status rename(const std::string& name, const std::string& new_name) const;  ///< within this directory; replaces
  /// Makes one more name of the same file; its content stays as long as any name does. PERDURE_EXISTS: the new name
  /// exists. PERDURE_UNSUPPORTED: the file system has no hard links, or allows no more of this file.
  base::Status link(const std::string& name, const Directory& to, const std::string& new_name) const;
  /// Do what os::read_file and os::write_file_atomically do.
  base::Result<std::vector<std::byte>> read_file(const std::string& name, std::uint64_t limit_bytes) const;
  base::Status write_file_atomically(const std::string& name, base::ConstByteSpan data) const;

 private:
  Directory(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

}  // namespace perdure::os
