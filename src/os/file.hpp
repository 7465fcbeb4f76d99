#pragma once
// Opens, reads, writes and removes files and directories. All functions retry EINTR, complete partial transfers, and
// return errors that name call and path.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

struct stat;

namespace perdure::os {

/// Owns a descriptor and closes it. All descriptors are close-on-exec.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

/// Identifies a file independently of its path; with its owner and permissions.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t user = 0;
  std::uint32_t permissions = 0;  ///< as for chmod
  std::uint64_t changed_ns = 0;   ///< wall clock of the file system, when bytes were written last
};
/// Picks them out of the system's facts about a file.
FileIdentity identity_in(const struct stat& facts);

enum class Open {
  read,
  read_write,
  create,
  create_new,
  create_shared
};  ///< create*: read-write, mode 0600 (create_shared: 0666 less umask); create_new and create_shared fail if it exists

class Directory;

/// An open regular file. Opening never follows a symbolic link in the last component. Thread-safe: all positions are
/// explicit. Calls that would grow the file beyond RLIMIT_FSIZE fail with PERDURE_NO_SPACE before the system sends a
/// signal.
class File {
 public:
  File() = default;
  static base::Result<File> open(const std::string& path, Open mode);
  /// Takes an open file: a descriptor that another process handed over.
  static File adopt(Fd fd, std::string path);
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  base::Result<std::uint64_t> size() const;
  base::Result<FileIdentity> identity() const;
  base::Status read(std::uint64_t offset, base::ByteSpan target) const;  ///< all of it, or an error
  base::Result<std::size_t> read_some(std::uint64_t offset,
                                      base::ByteSpan target) const;  ///< up to the end of the file
  /// Returns the offset of the first byte at or after `offset` that may differ from zero. That is `offset`, unless the
  /// file system reports a hole there; 2^64 - 1 if only a hole follows.
  std::uint64_t next_data(std::uint64_t offset) const;
  base::Status write(std::uint64_t offset, base::ConstByteSpan data) const;  ///< all of it, or an error
  base::Status truncate(std::uint64_t bytes) const;
  base::Status preallocate(std::uint64_t bytes) const;  ///< allocates [0, bytes); success if the file system cannot
  /// Allocates [offset, offset + bytes) for later writes, and keeps the file's size.
  base::Status reserve(std::uint64_t offset, std::uint64_t bytes) const;
  base::Status punch(std::uint64_t offset, std::uint64_t bytes) const;    ///< frees the room
  void start_writeback(std::uint64_t offset, std::uint64_t bytes) const;  ///< a hint; returns at once
  void drop_cached() const;        ///< a hint: the next read comes from the device, not from the page cache
  base::Status sync() const;       ///< fsync
  base::Status sync_data() const;  ///< fdatasync
  /// Takes the advisory lock of this open file (flock); PERDURE_BUSY if another process holds it.
  base::Status try_lock() const;

 private:
  friend class Directory;
  /// Opens `name` within the open directory `parent`; `path` is for messages and hooks.
  static base::Result<File> open_in(int parent, const std::string& name, const std::string& path, Open mode);
  Fd fd_;
  std::string path_;
};

/// Whether RLIMIT_FSIZE allows files of so many bytes.
bool may_have_size(std::uint64_t bytes);

struct Entry {
  std::string name;
  bool directory = false;
};

base::Result<std::vector<Entry>> list_directory(const std::string& path);  ///< without . and ..; sorted by name
base::Status make_directory(const std::string& path);                      ///< mode 0700; success if it is there
base::Status make_shared_directory(const std::string& path);               ///< does so with mode 0777 less umask
/// Makes all missing parents, too, and syncs each into its parent.
base::Status make_directories(const std::string& path);
/// Makes a directory that only this user can enter, mode 0700. An existing one must be a real directory that we own,
/// without access for others, else PERDURE_PERMISSION.
base::Status make_private_directory(const std::string& path);
base::Status sync_directory(const std::string& path);
base::Status rename_path(const std::string& from, const std::string& to);
/// Renames a file, but fails with PERDURE_EXISTS if the new name exists, and leaves that as it is. Without
/// RENAME_NOREPLACE and hard links it misses a process that makes that name at the same moment.
base::Status rename_to_free(const std::string& from, const std::string& to);
/// Exchanges the two names atomically; PERDURE_UNSUPPORTED if the file system cannot.
base::Status exchange_paths(const std::string& one, const std::string& other);
base::Status remove_file(const std::string& path);       ///< success if it is not there
base::Status remove_directory(const std::string& path);  ///< must be empty; success if it is not there
base::Status remove_tree(const std::string& path);       ///< follows no links
base::Result<bool> exists(const std::string& path);
base::Result<std::string> absolute_path(const std::string& path);  ///< lexical, from the working directory
base::Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t limit_bytes);
/// Writes and syncs a temporary file, renames it, and syncs the directory.
base::Status write_file_atomically(const std::string& path, base::ConstByteSpan data, Open how = Open::create_new);

struct Space {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  ///< available to this user
  std::string type;                   ///< "tmpfs", "ext4", "nfs", "0x..." ...
  std::uint64_t device_id = 0;        ///< tells file systems of one machine apart (st_dev); may change at a boot
  std::uint64_t inode = 0;            ///< inode of the path asked about
  std::uint64_t total_files = 0;      ///< maximum number of files; 0: unknown
  std::uint64_t available_files = 0;  ///< number of files that can still be made
  /// Whether its content is memory, lost at a boot.
  bool in_memory() const { return type == "tmpfs" || type == "ramfs"; }
};
base::Result<Space> space(const std::string& path);

}  // namespace perdure::os
