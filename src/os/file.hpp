#pragma once
// Files and directories. All functions retry EINTR, complete partial transfers, and return errors that name call and
// path.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

struct stat;

namespace perdure::os {

/// Owns a descriptor; closes it. All descriptors are close-on-exec.
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

/// The file's identity, independent of its path, and its owner and permissions.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t user = 0;
  std::uint32_t permissions = 0;  ///< as for chmod
  std::uint64_t changed_ns = 0;   ///< wall clock of the file system, when bytes were written last
};
/// Of the system's facts about a file.
FileIdentity identity_in(const struct stat& facts);

enum class Open {
  read,
  read_write,
  create,
  create_new,
  create_shared
};  ///< create*: read-write, mode 0600; create_new fails if it exists; create_shared does, too, with mode 0666 less
    ///< umask

class Directory;

/// An open regular file; never follows a symbolic link in the last component. Thread-safe: all positions are explicit.
/// What would make it larger than RLIMIT_FSIZE allows is refused with PERDURE_NO_SPACE, before the system sends a
/// signal.
class File {
 public:
  File() = default;
  static base::Result<File> open(const std::string& path, Open mode);
  /// A file that is open already (a descriptor handed over by another process).
  static File adopt(Fd fd, std::string path);
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  base::Result<std::uint64_t> size() const;
  base::Result<FileIdentity> identity() const;
  base::Status read(std::uint64_t offset, base::ByteSpan target) const;  ///< all of it, or an error
  base::Result<std::size_t> read_some(std::uint64_t offset,
                                      base::ByteSpan target) const;  ///< up to the end of the file
  /// Where the first byte at or after `offset` is that may be another than zero: `offset` itself unless the file system
  /// says that nothing was written there; 2^64 - 1 when it says so of all that follows.
  std::uint64_t next_data(std::uint64_t offset) const;
  base::Status write(std::uint64_t offset, base::ConstByteSpan data) const;  ///< all of it, or an error
  base::Status truncate(std::uint64_t bytes) const;
  base::Status preallocate(
      std::uint64_t bytes) const;  ///< real room for [0, bytes); success where the file system cannot
  /// The same for [offset, offset + bytes), and the size stays: room for what is written there later.
  base::Status reserve(std::uint64_t offset, std::uint64_t bytes) const;
  base::Status punch(std::uint64_t offset, std::uint64_t bytes) const;    ///< gives the room back
  void start_writeback(std::uint64_t offset, std::uint64_t bytes) const;  ///< a hint; returns at once
  void drop_cached() const;        ///< a hint: the next read comes from the device, not from this machine's memory
  base::Status sync() const;       ///< fsync
  base::Status sync_data() const;  ///< fdatasync
  /// Advisory lock of this open file (flock); PERDURE_BUSY when another process holds it.
  base::Status try_lock() const;

 private:
  friend class Directory;
  /// `name` within the open directory `parent`; `path` for messages and hooks.
  static base::Result<File> open_in(int parent, const std::string& name, const std::string& path, Open mode);
  Fd fd_;
  std::string path_;
};

/// Whether RLIMIT_FSIZE lets files be so long.
bool may_have_size(std::uint64_t bytes);

struct Entry {
  std::string name;
  bool directory = false;
};

base::Result<std::vector<Entry>> list_directory(const std::string& path);  ///< without . and ..; sorted by name
base::Status make_directory(const std::string& path);                      ///< mode 0700; success if it is there
base::Status make_shared_directory(const std::string& path);               ///< the same with mode 0777 less umask
/// All missing parents too, each synced into its parent.
base::Status make_directories(const std::string& path);
/// A directory only this user can enter: created 0700; if there, must be a real directory owned by us without access
/// for others, else PERDURE_PERMISSION.
base::Status make_private_directory(const std::string& path);
base::Status sync_directory(const std::string& path);
base::Status rename_path(const std::string& from, const std::string& to);
/// The same for a file, but PERDURE_EXISTS when there is something under the new name, which stays as it is. On a file
/// system that knows neither such a rename nor second names, somebody who makes that name at the same moment is missed.
base::Status rename_to_free(const std::string& from, const std::string& to);
/// Both have each other's name, at once. PERDURE_UNSUPPORTED where the file system cannot.
base::Status exchange_paths(const std::string& one, const std::string& other);
base::Status remove_file(const std::string& path);       ///< success if it is not there
base::Status remove_directory(const std::string& path);  ///< an empty one; success if it is not there
base::Status remove_tree(const std::string& path);       ///< does not follow links
base::Result<bool> exists(const std::string& path);
base::Result<std::string> absolute_path(const std::string& path);  ///< lexical, from the working directory
base::Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t limit_bytes);
/// Temporary name, write, sync, rename, sync of the directory.
base::Status write_file_atomically(const std::string& path, base::ConstByteSpan data, Open how = Open::create_new);

struct Space {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  ///< to us
  std::string type;                   ///< "tmpfs", "ext4", "nfs", "0x..." ...
  std::uint64_t device_id = 0;        ///< tells file systems of one machine apart (st_dev); may change at a boot
  std::uint64_t inode = 0;            ///< of the path that was asked for
  std::uint64_t total_files = 0;      ///< that the file system can have; 0: it does not say
  std::uint64_t available_files = 0;  ///< that can still be made
  /// Its content is memory, and gone when the machine starts anew.
  bool in_memory() const { return type == "tmpfs" || type == "ramfs"; }
};
base::Result<Space> space(const std::string& path);

}  // namespace perdure::os
