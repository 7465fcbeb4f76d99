#include "process/reopened.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "process/file_contents.hpp"

namespace perdure::process {
namespace {

constexpr std::uint32_t kAtOpening =
    O_ACCMODE | O_APPEND | O_DSYNC | O_SYNC | O_DIRECT | O_NOATIME | O_PATH | O_DIRECTORY;
constexpr std::uint32_t kSettable = O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME;

const char* kind_of(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFCHR:
      return "a character device";
    default:
      return "something else";
  }
}

std::string device_of(std::uint64_t device) {
  return " " + std::to_string(major(device)) + ":" + std::to_string(minor(device));
}

bool is_of_the_kernel(int fd) {
  struct statfs system {};
  return ::fstatfs(fd, &system) == 0 && (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC);
}

}  // namespace

base::Result<os::Fd> reopened(int fd, std::uint32_t flags, const std::string& object) {
  const auto path = "/proc/self/fd/" + std::to_string(fd);
  if ((flags & O_TMPFILE) == O_TMPFILE) flags &= ~static_cast<std::uint32_t>(O_TMPFILE);  // the file exists already
  // Does not wait for a lease, or for the other side of a FIFO.
  os::Fd own(::open(path.c_str(), static_cast<int>(flags & kAtOpening) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!own) return base::fail(base::errno_error(errno, "open", object));
  if ((flags & O_PATH) == 0) PERDURE_CHECK(set_flags(own.get(), flags, object));
  return own;
}

base::Status set_flags(int fd, std::uint32_t flags, const std::string& object) {
  const int now = ::fcntl(fd, F_GETFL);
  const int then = static_cast<int>((static_cast<std::uint32_t>(now) & ~kSettable) | (flags & kSettable));
  if (now >= 0 && (now == then || ::fcntl(fd, F_SETFL, then) == 0)) return {};
  return base::fail(base::errno_error(errno, "F_SETFL", object));
}

base::Result<os::Fd> found(const NamedFile& file, const std::string& object) {
  os::Fd fd(::open(file.path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd && (errno == ENOENT || errno == ENOTDIR))
    return base::fail(PERDURE_NOT_FOUND, object, "it is not there any more",
                      "put it back where it was, or leave its descriptor out (--force-without)");
  if (!fd) return base::fail(base::errno_error(errno, "open", object));
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return base::fail(base::errno_error(errno, "fstat", object));
  if ((facts.st_mode & S_IFMT) != (file.mode & S_IFMT))
    return base::fail(
        PERDURE_MISMATCH, object,
        std::string("it was ") + kind_of(file.mode) + ", and its name has " + kind_of(facts.st_mode) + " by now",
        "put back what it was, or leave its descriptor out (--force-without)");
  if (S_ISCHR(facts.st_mode) && facts.st_rdev != file.special_device)
    return base::fail(
        PERDURE_MISMATCH, object,
        "it was device" + device_of(file.special_device) + ", and is device" + device_of(facts.st_rdev) + " by now");
  return fd;
}

base::Result<std::vector<std::string>> changes_of(const NamedFile& file, int fd) {
  struct stat facts {};
  std::vector<std::string> changes;
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || is_of_the_kernel(fd)) return changes;
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (facts.st_dev != file.device || facts.st_ino != file.inode) changes.push_back("another file has its name by now");
  if (size < file.size)
    changes.push_back("it was shortened: it had " + std::to_string(file.size) + " bytes, and has " +
                      std::to_string(size));
  if (size > file.size)
    changes.push_back("it has grown: it had " + std::to_string(file.size) + " bytes, and has " + std::to_string(size));
  if (file.hash && size >= file.size) {
    PERDURE_TRY(const auto hash, hash_of_file(fd, file.size));
    if (hash != file.hash) changes.push_back("its content is another one");
    return changes;
  }
  const std::int64_t modified = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (modified != file.modified_ns && changes.empty())
    changes.push_back("it was written to since (its time is another)");
  return changes;
}

struct flock record_of(const FileLock& lock) {
  struct flock record {};
  record.l_type = static_cast<short>(lock.exclusive ? F_WRLCK : F_RDLCK);
  record.l_whence = SEEK_SET;
  record.l_start = static_cast<off_t>(lock.begin);
  record.l_len = static_cast<off_t>(lock.bytes);
  return record;
}

}  // namespace perdure::process
