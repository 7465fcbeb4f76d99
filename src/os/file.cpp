// Implements open files; directory.cpp has directories and paths.
#include "os/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "os/fork.hpp"
#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr mode_t kPrivateFile = 0600, kSharedFile = 0666;  // the system subtracts the umask

int flags_of(Open mode) {
  // O_NONBLOCK: opening a FIFO in the file's place must not hang. It changes nothing for regular files.
  constexpr int kCommon = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  switch (mode) {
    case Open::read:
      return kCommon | O_RDONLY;
    case Open::read_write:
      return kCommon | O_RDWR;
    case Open::create:
      return kCommon | O_RDWR | O_CREAT;
    case Open::create_new:
    case Open::create_shared:
      return kCommon | O_RDWR | O_CREAT | O_EXCL;
  }
  return kCommon;
}

rlim_t size_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

base::Error too_large(const std::string& path, std::uint64_t bytes) {
  return {PERDURE_NO_SPACE, path,
          "it would have " + base::format_bytes(bytes) + ", files may have " + base::format_bytes(size_limit()) +
              " (RLIMIT_FSIZE)",
          "ulimit -f unlimited, where the program is started", false};
}

// The kernel's internal "not supported", which no user header defines: some network file systems leak it.
constexpr int kNotSupportedInKernel = 524;

bool cannot(int error_number) {
  return error_number == EOPNOTSUPP || error_number == ENOSYS || error_number == kNotSupportedInKernel;
}

}  // namespace

// Callers check this before a file grows: the kernel would answer with SIGXFSZ, which ends the application. Signal
// handling belongs to the application.
bool may_have_size(std::uint64_t bytes) { return bytes <= size_limit(); }

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() { return std::exchange(fd_, -1); }

void Fd::reset() {
  const int kept = errno;  // destructors may change errno before it is read
  if (fd_ >= 0) {
    forget_descriptor(fd_);  // before another thread reuses its number
    ::close(fd_);
  }
  fd_ = -1;
  errno = kept;
}

File File::adopt(Fd fd, std::string path) {
  File file;
  file.fd_ = std::move(fd);
  file.path_ = std::move(path);
  return file;
}

base::Result<File> File::open(const std::string& path, Open mode) { return open_in(AT_FDCWD, path, path, mode); }

base::Result<File> File::open_in(int parent, const std::string& name, const std::string& path, Open mode) {
  const int flags = flags_of(mode);
  const mode_t permissions = mode == Open::create_shared ? kSharedFile : kPrivateFile;
  File file;
  file.path_ = path;
  file.fd_ = Fd(system_call({.call = "open", .path = path, .flags = flags},
                            [&] { return ::openat(parent, name.c_str(), flags, permissions); }));
  if (!file.fd_) return call_failed("open", path);
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstat", .path = path}, [&] { return ::fstat(file.fd(), &facts); }));
  if (!S_ISREG(facts.st_mode)) return base::fail(PERDURE_IO, path, "open: not a regular file");
  return file;
}

base::Result<std::uint64_t> File::size() const {
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstat", .path = path_}, [&] { return ::fstat(fd(), &facts); }));
  return static_cast<std::uint64_t>(facts.st_size);
}

FileIdentity identity_in(const struct stat& facts) {
  return {static_cast<std::uint64_t>(facts.st_dev), static_cast<std::uint64_t>(facts.st_ino), facts.st_uid,
          facts.st_mode & 07777U,
          static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000U +
              static_cast<std::uint64_t>(facts.st_mtim.tv_nsec)};
}

base::Result<FileIdentity> File::identity() const {
  struct stat facts {};
  PERDURE_CHECK(checked_call({.call = "fstat", .path = path_}, [&] { return ::fstat(fd(), &facts); }));
  return identity_in(facts);
}

base::Status File::read(std::uint64_t offset, base::ByteSpan target) const {
  PERDURE_TRY(const std::size_t got, read_some(offset, target));
  if (got == target.size()) return {};
  return base::fail(PERDURE_CORRUPT, path_,
                    "pread at offset " + std::to_string(offset) + ": the file ends after " +
                        std::to_string(offset + got) + " bytes, " + std::to_string(offset + target.size()) +
                        " expected");
}

base::Result<std::size_t> File::read_some(std::uint64_t offset, base::ByteSpan target) const {
  std::size_t done = 0;
  while (done < target.size()) {
    const std::uint64_t at = offset + done;
    const std::size_t bytes = std::min(target.size() - done, kMostPerCall);
    const Call call{
        .call = "pread", .path = path_, .offset = at, .target = target.subspan(done, bytes), .length = bytes};
    const ssize_t got = system_call(
        call, [&] { return ::pread(fd(), target.data() + done, transferable(call, bytes), static_cast<off_t>(at)); });
    if (got < 0) return call_failed("pread", at, path_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// Nobody uses the descriptor's position: all transfers give theirs.
std::uint64_t File::next_data(std::uint64_t offset) const {
  const off_t found = system_call({.call = "lseek", .path = path_, .offset = offset},
                                  [&] { return ::lseek(fd(), static_cast<off_t>(offset), SEEK_DATA); });
  if (found >= 0) return static_cast<std::uint64_t>(found);
  return errno == ENXIO ? std::numeric_limits<std::uint64_t>::max() : offset;
}

base::Status File::write(std::uint64_t offset, base::ConstByteSpan data) const {
  while (!data.empty()) {
    const base::ConstByteSpan piece = data.first(std::min(data.size(), kMostPerCall));
    if (!may_have_size(offset + piece.size())) return base::fail(too_large(path_, offset + piece.size()));
    const Call call{.call = "pwrite", .path = path_, .offset = offset, .data = piece};
    const ssize_t put = system_call(call, [&] {
      return ::pwrite(fd(), piece.data(), transferable(call, piece.size()), static_cast<off_t>(offset));
    });
    if (put < 0) return call_failed("pwrite", offset, path_);
    if (put == 0)
      return base::fail(PERDURE_IO, path_, "pwrite at offset " + std::to_string(offset) + ": nothing written");
    data = data.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

base::Status File::truncate(std::uint64_t bytes) const {
  if (!may_have_size(bytes))  // a longer file may still be shortened
    if (const auto now = size(); !now || *now < bytes) return base::fail(too_large(path_, bytes));
  return checked_call({.call = "ftruncate", .path = path_, .length = bytes},
                      [&] { return ::ftruncate(fd(), static_cast<off_t>(bytes)); });
}

base::Status File::preallocate(std::uint64_t bytes) const {
  if (bytes == 0) return {};
  if (!may_have_size(bytes)) return base::fail(too_large(path_, bytes));
  // posix_fallocate would write every block on file systems without fallocate.
  const int result = system_call({.call = "fallocate", .path = path_, .length = bytes},
                                 [&] { return ::fallocate(fd(), 0, 0, static_cast<off_t>(bytes)); });
  if (result < 0 && !cannot(errno)) return call_failed("fallocate", path_);
  return {};
}

base::Status File::reserve(std::uint64_t offset, std::uint64_t bytes) const {
  const int result = system_call({.call = "reserve", .path = path_, .offset = offset, .length = bytes}, [&] {
    return ::fallocate(fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  });
  if (result < 0 && !cannot(errno)) return call_failed("fallocate, to reserve room", path_);
  return {};
}

base::Status File::punch(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return {};
  return checked_call({.call = "punch", .path = path_, .offset = offset, .length = bytes}, [&] {
    return ::fallocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                       static_cast<off_t>(bytes));
  });
}

void File::start_writeback(std::uint64_t offset, std::uint64_t bytes) const {
  // This is a hint: an error met here recurs at the sync, and is reported there.
  (void)system_call({.call = "sync_file_range", .path = path_, .offset = offset, .length = bytes}, [&] {
    return ::sync_file_range(fd(), static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  });
}

void File::drop_cached() const {
  (void)system_call({.call = "posix_fadvise", .path = path_},
                    [&] { return ::posix_fadvise(fd(), 0, 0, POSIX_FADV_DONTNEED); });
}

base::Status File::sync() const {
  return checked_call({.call = "fsync", .path = path_}, [&] { return ::fsync(fd()); });
}

base::Status File::sync_data() const {
  return checked_call({.call = "fdatasync", .path = path_}, [&] { return ::fdatasync(fd()); });
}

base::Status File::try_lock() const {
  const int result = system_call({.call = "flock", .path = path_}, [&] { return ::flock(fd(), LOCK_EX | LOCK_NB); });
  if (result == 0) return {};
  if (errno != EWOULDBLOCK) return call_failed("flock", path_);
  return base::fail(PERDURE_BUSY, path_, "flock: locked by somebody else", {}, true);
}

}  // namespace perdure::os
