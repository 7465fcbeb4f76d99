// Implements directory.hpp, and the directories and paths of file.hpp.
#include "os/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include "os/system.hpp"
#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr mode_t kPrivateDirectory = 0700, kSharedDirectory = 0777;
constexpr mode_t kOthers = 0077;
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

using Stream = std::unique_ptr<DIR, int (*)(DIR*)>;

base::Result<Fd> open_directory(const std::string& path, int more_flags = 0) {
  const int flags = kDirectory | more_flags;
  Fd fd(system_call({.call = "open", .path = path, .flags = flags}, [&] { return ::open(path.c_str(), flags); }));
  if (!fd) return call_failed("open", path);
  return fd;
}

base::Result<bool> is_directory(int parent, const dirent& entry, const std::string& path) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstatat", .path = path},
                             [&] { return ::fstatat(parent, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW); }));
  return S_ISDIR(facts.st_mode);
}

base::Result<std::vector<Entry>> list_open(Fd fd, const std::string& path) {
  Stream stream(::fdopendir(fd.get()), ::closedir);
  if (!stream) return call_failed("opendir", path);
  fd.release();  // the stream owns it now
  std::vector<Entry> entries;
  for (;;) {
    const dirent* entry = nullptr;
    if (system_call({.call = "readdir", .path = path}, [&] {
          errno = 0;  // after the hooks, because only errno tells the end from an error
          entry = ::readdir(stream.get());
          return errno == 0 ? 0 : -1;
        }) < 0)
      return call_failed("readdir", path);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    auto directory = is_directory(::dirfd(stream.get()), *entry, path + "/" + name);
    if (directory) {
      entries.push_back({name, *directory});
    } else if (directory.error().code != PERDURE_NOT_FOUND) {  // else another process removed it meanwhile
      return base::fail(std::move(directory).error());
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

base::Status unlink_in(int parent, const std::string& name, const std::string& path, bool directory) {
  const Call call{.call = directory ? "rmdir" : "unlink", .path = path};
  const int result = system_call(call, [&] { return ::unlinkat(parent, name.c_str(), directory ? AT_REMOVEDIR : 0); });
  if (result < 0 && errno != ENOENT) return call_failed(call.call, path);
  return {};
}

// Descends by descriptors, never by path, so that it follows no directory that was replaced by a link meanwhile.
base::Status remove_inside(int parent, const std::string& name, const std::string& path) {
  constexpr int kFlags = kDirectory | O_NOFOLLOW;
  Fd fd(system_call({.call = "open", .path = path, .flags = kFlags},
                    [&] { return ::openat(parent, name.c_str(), kFlags); }));
  if (!fd && errno == ENOENT) return {};
  if (!fd && (errno == ENOTDIR || errno == ELOOP)) return unlink_in(parent, name, path, false);
  if (!fd) return call_failed("open", path);
  Fd listed(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!listed) return call_failed("fcntl", path);
  PERDURE_TRY(const std::vector<Entry> entries, list_open(std::move(listed), path));
  for (const Entry& entry : entries) {
    const std::string inner = path + "/" + entry.name;
    PERDURE_CHECK(entry.directory ? remove_inside(fd.get(), entry.name, inner)
                                  : unlink_in(fd.get(), entry.name, inner, false));
  }
  return unlink_in(parent, name, path, true);
}

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The owner decides about the remedy: in /tmp and /dev/shm users cannot remove others' directories.
tl::unexpected<base::Error> not_private(const std::string& path, const char* cause, bool ours, const char* remedy) {
  return base::fail(PERDURE_PERMISSION, path, cause,
                    ours ? remedy : "only its owner or an administrator can remove it");
}

base::Status sync_open(const Fd& fd, const std::string& path) {
  const int result = system_call({.call = "fsync_dir", .path = path}, [&] { return ::fsync(fd.get()); });
  // Some file systems keep their directories consistent by themselves, and refuse the call.
  if (result < 0 && errno != EINVAL) return call_failed("fsync of the directory", path);
  return {};
}

base::Result<bool> exists_in(int parent, const std::string& name, const std::string& path) {
  struct stat facts {};
  const int result = system_call({.call = "lstat", .path = path},
                                 [&] { return ::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW); });
  if (result == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return call_failed("lstat", path);
}

/// A name within an open directory; `path` for messages and hooks.
struct At {
  int parent;
  const std::string& name;
  const std::string& path;
};

base::Status rename_to_free_in(const At& from, const At& to) {
  const auto knows_not = [] { return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM; };
  const auto rename_with = [&](unsigned flags) {
    return ::renameat2(from.parent, from.name.c_str(), to.parent, to.name.c_str(), flags);
  };
  const Call exclusive{.call = "rename", .path = from.path, .new_path = to.path, .flags = RENAME_NOREPLACE};
  if (system_call(exclusive, [&] { return rename_with(RENAME_NOREPLACE); }) == 0) return {};
  if (!knows_not()) return call_failed("rename to " + to.path, from.path);
  if (system_call({.call = "link", .path = from.path, .new_path = to.path},
                  [&] { return ::linkat(from.parent, from.name.c_str(), to.parent, to.name.c_str(), 0); }) == 0)
    return unlink_in(from.parent, from.name, from.path, false);
  if (!knows_not() && errno != EMLINK) return call_failed("link to " + to.path, from.path);
  PERDURE_TRY(const bool taken, exists_in(to.parent, to.name, to.path));
  if (taken) return base::fail(PERDURE_EXISTS, to.path, "there is a file of this name already");
  const int result = system_call({.call = "rename", .path = from.path, .new_path = to.path}, [&] {
    return ::renameat(from.parent, from.name.c_str(), to.parent, to.name.c_str());
  });
  if (result < 0) return call_failed("rename to " + to.path, from.path);
  return {};
}

bool is_ours(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
}

}  // namespace

base::Result<std::vector<Entry>> list_directory(const std::string& path) {
  PERDURE_TRY(Fd fd, open_directory(path));
  return list_open(std::move(fd), path);
}

namespace {

base::Status make_directory_with(const std::string& path, mode_t mode) {
  const int result = system_call({.call = "mkdir", .path = path}, [&] { return ::mkdir(path.c_str(), mode); });
  if (result == 0) return {};
  if (errno != EEXIST) return call_failed("mkdir", path);
  struct stat facts {};
  if (system_call({.call = "stat", .path = path}, [&] { return ::stat(path.c_str(), &facts); }) < 0)
    return call_failed("stat", path);
  if (S_ISDIR(facts.st_mode)) return {};
  errno = ENOTDIR;
  return call_failed("mkdir", path);
}

}  // namespace

base::Status make_directory(const std::string& path) { return make_directory_with(path, kPrivateDirectory); }

base::Status make_shared_directory(const std::string& path) { return make_directory_with(path, kSharedDirectory); }

base::Status make_directories(const std::string& path) {
  PERDURE_TRY(std::string level, absolute_path(path));
  std::vector<std::string> missing;
  for (;; level = parent_of(level)) {
    PERDURE_TRY(const bool there, exists(level));
    if (there) break;
    missing.push_back(level);
  }
  if (missing.empty()) return make_directory(path);  // refuses anything but a directory
  // Syncs also a level that another process makes at the same moment: we promise that all levels stay.
  for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
    PERDURE_CHECK(make_directory(*next));
    PERDURE_CHECK(sync_directory(parent_of(*next)));
  }
  return {};
}

base::Status make_private_directory(const std::string& path) {
  const int made =
      system_call({.call = "mkdir", .path = path}, [&] { return ::mkdir(path.c_str(), kPrivateDirectory); });
  if (made < 0 && errno != EEXIST) return call_failed("mkdir", path);
  const Fd fd(system_call({.call = "open", .path = path, .flags = kDirectory | O_NOFOLLOW},
                          [&] { return ::open(path.c_str(), kDirectory | O_NOFOLLOW); }));
  if (!fd && (errno == ENOTDIR || errno == ELOOP))
    return not_private(path, "is a link or a file, not a directory", is_ours(path), "remove it");
  if (!fd) return call_failed("open", path);
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstat", .path = path}, [&] { return ::fstat(fd.get(), &facts); }));
  if (facts.st_uid != ::geteuid()) return not_private(path, "belongs to another user", false, "");
  if ((facts.st_mode & kOthers) != 0) return not_private(path, "is open to other users", true, "chmod 700 it");
  return {};
}

base::Status sync_directory(const std::string& path) {
  PERDURE_TRY(const Fd fd, open_directory(path));
  return sync_open(fd, path);
}

base::Status rename_path(const std::string& from, const std::string& to) {
  const int result =
      system_call({.call = "rename", .path = from, .new_path = to}, [&] { return ::rename(from.c_str(), to.c_str()); });
  if (result < 0) return call_failed("rename to " + to, from);
  return {};
}

base::Status rename_to_free(const std::string& from, const std::string& to) {
  return rename_to_free_in({AT_FDCWD, from, from}, {AT_FDCWD, to, to});
}

base::Status exchange_paths(const std::string& one, const std::string& other) {
  const Call exchange{.call = "rename", .path = one, .new_path = other, .flags = RENAME_EXCHANGE};
  const int result = system_call(
      exchange, [&] { return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE); });
  if (result == 0) return {};
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM)
    return base::fail(PERDURE_UNSUPPORTED, other, "this file system cannot exchange two names");
  return call_failed("exchange with " + other, one);
}

base::Status remove_file(const std::string& path) { return unlink_in(AT_FDCWD, path, path, false); }

base::Status remove_directory(const std::string& path) { return unlink_in(AT_FDCWD, path, path, true); }

base::Status remove_tree(const std::string& path) { return remove_inside(AT_FDCWD, path, path); }

base::Result<bool> exists(const std::string& path) { return exists_in(AT_FDCWD, path, path); }

base::Result<std::string> absolute_path(const std::string& path) {
  std::filesystem::path whole(path);
  if (!whole.is_absolute()) {
    std::error_code error;
    const auto working_directory = std::filesystem::current_path(error);
    if (error) return base::fail(base::errno_error(error.value(), "getcwd", path));
    whole = working_directory / whole;
  }
  std::string normal = whole.lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

base::Result<Directory> Directory::open(const std::string& path) {
  PERDURE_TRY(Fd fd, perdure::os::open_directory(path));
  return Directory(std::move(fd), path);
}

base::Result<Directory> Directory::open_directory(const std::string& name) const {
  constexpr int kFlags = kDirectory | O_NOFOLLOW;
  const std::string path = path_of(name);
  Fd fd(system_call({.call = "open", .path = path, .flags = kFlags},
                    [&] { return ::openat(fd_.get(), name.c_str(), kFlags); }));
  if (fd) return Directory(std::move(fd), path);
  const int error_number = errno;
  struct stat facts {};
  const bool is_link = (error_number == ENOTDIR || error_number == ELOOP) &&
                       ::fstatat(fd_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
  if (is_link)
    return base::fail(PERDURE_PERMISSION, path,
                      "it is a link, made by user " + user_name(facts.st_uid) + ", and links are not followed here",
                      "remove it, or move what it leads to into its place");
  errno = error_number;
  return call_failed("open", path);
}

base::Result<File> Directory::open_file(const std::string& name, Open mode) const {
  return File::open_in(fd_.get(), name, path_of(name), mode);
}

base::Result<FileIdentity> Directory::identity() const {
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstat", .path = path_}, [&] { return ::fstat(fd_.get(), &facts); }));
  return identity_in(facts);
}

base::Result<FileIdentity> Directory::identity_of(const std::string& name) const {
  struct stat facts {};
  const std::string path = path_of(name);
  PERDURE_CHECK(checked_call({.call = "lstat", .path = path},
                             [&] { return ::fstatat(fd_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW); }));
  return identity_in(facts);
}

// Opens a descriptor of its own: positions belong to the open file, and several threads may list at once.
base::Result<std::vector<Entry>> Directory::list() const {
  Fd fd(system_call({.call = "open", .path = path_, .flags = kDirectory},
                    [&] { return ::openat(fd_.get(), ".", kDirectory); }));
  if (!fd) return call_failed("open", path_);
  return list_open(std::move(fd), path_);
}

base::Result<bool> Directory::contains(const std::string& name) const {
  return exists_in(fd_.get(), name, path_of(name));
}

base::Status Directory::make_directory(const std::string& name) const {
  const std::string path = path_of(name);
  const int result = system_call({.call = "mkdir", .path = path},
                                 [&] { return ::mkdirat(fd_.get(), name.c_str(), kPrivateDirectory); });
  if (result < 0 && errno != EEXIST) return call_failed("mkdir", path);
  return {};
}

base::Status Directory::sync() const { return sync_open(fd_, path_); }

base::Status Directory::remove_file(const std::string& name) const {
  return unlink_in(fd_.get(), name, path_of(name), false);
}

base::Status Directory::remove_directory(const std::string& name) const {
  return unlink_in(fd_.get(), name, path_of(name), true);
}

base::Result<bool> Directory::remove_if_empty(const std::string& name) const {
  const std::string path = path_of(name);
  const int result =
      system_call({.call = "rmdir", .path = path}, [&] { return ::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR); });
  if (result == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  return call_failed("rmdir", path);
}

base::Status Directory::rename_to_free(const std::string& name, const Directory& to,
                                       const std::string& new_name) const {
  return rename_to_free_in({fd_.get(), name, path_of(name)}, {to.fd_.get(), new_name, to.path_of(new_name)});
}

base::Status Directory::rename(const std::string& name, const std::string& new_name) const {
  const std::string from = path_of(name), to = path_of(new_name);
  const int result = system_call({.call = "rename", .path = from, .new_path = to},
                                 [&] { return ::renameat(fd_.get(), name.c_str(), fd_.get(), new_name.c_str()); });
  if (result < 0) return call_failed("rename to " + to, from);
  return {};
}

base::Status Directory::link(const std::string& name, const Directory& to, const std::string& new_name) const {
  const std::string from = path_of(name), path = to.path_of(new_name);
  const int result = system_call({.call = "link", .path = from, .new_path = path},
                                 [&] { return ::linkat(fd_.get(), name.c_str(), to.fd_.get(), new_name.c_str(), 0); });
  if (result == 0) return {};
  const bool refused =
      errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM || errno == EMLINK || errno == EXDEV;
  if (refused)
    return base::fail(PERDURE_UNSUPPORTED, from,
                      std::string("the file system gives it no second name: ") + ::strerrordesc_np(errno));
  return call_failed("link to " + path, from);
}

}  // namespace perdure::os
