#pragma once
// An open directory. What is in it is reached through its descriptor, never again by path: whoever renames or replaces
// a directory on the way leads nobody elsewhere.
#include <string>
#include <vector>

#include "os/file.hpp"

namespace perdure::os {

/// Names are single components. Links among them are never followed: PERDURE_PERMISSION where one is in the place of a
/// directory or file. Thread-safe.
class Directory {
 public:
  /// Links in `path` are followed: it is the caller's.
  static base::Result<Directory> open(const std::string& path);
  /// PERDURE_PERMISSION when it is a link or no directory.
  base::Result<Directory> open_directory(const std::string& name) const;
  base::Result<File> open_file(const std::string& name, Open mode) const;
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  base::Result<FileIdentity> identity() const;
  base::Result<FileIdentity> identity_of(const std::string& name) const;  ///< of a link: its own
  base::Result<std::vector<Entry>> list() const;                          ///< as list_directory
  base::Result<bool> contains(const std::string& name) const;
  base::Status make_directory(const std::string& name) const;  ///< mode 0700; success if there is something
  base::Status sync() const;
  base::Status remove_file(const std::string& name) const;            ///< success if it is not there
  base::Status remove_directory(const std::string& name) const;       ///< an empty one; success if it is not there
  base::Result<bool> remove_if_empty(const std::string& name) const;  ///< false: there is something in it
  /// As os::rename_to_free.
  base::Status rename_to_free(const std::string& name, const Directory& to, const std::string& new_name) const;
  base::Status rename(const std::string& name, const std::string& new_name) const;  ///< within it; replaces
  /// One more name of the same file: its content stays as long as any of its names does. PERDURE_EXISTS when there is
  /// something of that name; PERDURE_UNSUPPORTED: the file system has no such names, or no more of this file.
  base::Status link(const std::string& name, const Directory& to, const std::string& new_name) const;
  /// As os::read_file and os::write_file_atomically.
  base::Result<std::vector<std::byte>> read_file(const std::string& name, std::uint64_t limit_bytes) const;
  base::Status write_file_atomically(const std::string& name, base::ConstByteSpan data) const;

 private:
  Directory(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

}  // namespace perdure::os
