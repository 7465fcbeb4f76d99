#include "process/file_contents.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/file.hpp"

namespace perdure::process {
namespace {

base::Status failed(const char* call) { return base::fail(base::errno_error(errno, call, "an open file")); }

/// Opens the file again through its link, because `fd` may be write-only.
base::Result<os::Fd> readable(int fd) {
  const auto path = "/proc/self/fd/" + std::to_string(fd);
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  os::Fd own(::open(path.c_str(), kFlags | O_NOATIME));  // only its owner may
  if (!own) own = os::Fd(::open(path.c_str(), kFlags));
  if (!own) PERDURE_CHECK(failed("open"));
  return own;
}

base::Status read_at(int fd, std::uint64_t offset, base::ByteSpan target) {
  while (!target.empty()) {
    const ssize_t got = ::pread(fd, target.data(), target.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("pread");
    if (got == 0) return base::fail(PERDURE_INTERNAL, "an open file", "it became shorter while it was read");
    target = target.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

/// Reads up to the end of a message, or until nothing is left.
base::Result<std::vector<DataRun>> drained(int fd, std::size_t bytes, bool messages) {
  std::vector<DataRun> runs;
  std::uint64_t offset = 0;
  std::vector<std::byte> block(std::max<std::size_t>(bytes, 1));
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == EAGAIN)) return runs;
    if (got < 0) PERDURE_CHECK(failed("read"));
    if (messages || runs.empty()) runs.push_back({offset, {}});
    runs.back().bytes.insert(runs.back().bytes.end(), block.begin(), block.begin() + got);
    offset += static_cast<std::uint64_t>(got);
  }
}

/// Makes a pipe with as many buffers as `fd` has.
base::Status make_pipe_like(int fd, os::Fd& out, os::Fd& in) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failed("pipe2");
  out = os::Fd(ends[0]);
  in = os::Fd(ends[1]);
  const int capacity = ::fcntl(fd, F_GETPIPE_SZ);
  if (capacity < 0) return failed("F_GETPIPE_SZ");
  if (::fcntl(ends[1], F_GETPIPE_SZ) < capacity && ::fcntl(ends[1], F_SETPIPE_SZ, capacity) < 0)
    return failed("F_SETPIPE_SZ (see /proc/sys/fs/pipe-max-size)");
  return {};
}

}  // namespace

base::Result<FileContent> content_of_pipe(int fd, bool reads, bool messages) {
  FileContent content;
  content.capacity = static_cast<std::uint32_t>(std::max(::fcntl(fd, F_GETPIPE_SZ), 0));
  int waiting = 0;
  if (!reads || ::ioctl(fd, FIONREAD, &waiting) != 0 || waiting == 0) return content;
  os::Fd out, in;
  PERDURE_CHECK(make_pipe_like(fd, out, in));
  ssize_t copied = 0;
  do copied = ::tee(fd, in.get(), INT_MAX, SPLICE_F_NONBLOCK);
  while (copied < 0 && errno == EINTR);
  if (copied < 0) PERDURE_CHECK(failed("tee"));
  in.reset();
  PERDURE_TRY(content.runs, drained(out.get(), static_cast<std::size_t>(waiting), messages));
  if (content.bytes() != static_cast<std::uint64_t>(waiting))
    return base::fail(PERDURE_INTERNAL, "a pipe", "not all that waits in it can be looked at");
  return content;
}

base::Result<FileContent> content_of_file(int fd, std::uint64_t most_bytes) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) PERDURE_CHECK(failed("fstat"));
  PERDURE_TRY(const os::Fd own, readable(fd));
  FileContent content;
  content.size = static_cast<std::uint64_t>(facts.st_size);
  content.permissions = facts.st_mode & 07777;
  content.seals = static_cast<std::uint32_t>(std::max(::fcntl(fd, F_GET_SEALS), 0));
  std::uint64_t bytes = 0;
  for (off_t at = 0; at < facts.st_size;) {
    const off_t begin = ::lseek(own.get(), at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // only a hole follows
    off_t end = begin < 0 ? facts.st_size : ::lseek(own.get(), begin, SEEK_HOLE);
    if (end < 0) end = facts.st_size;
    DataRun run{static_cast<std::uint64_t>(std::max(begin, at)), {}};
    bytes += static_cast<std::uint64_t>(end) - run.offset;
    if (bytes > most_bytes)
      return base::fail(PERDURE_UNSUPPORTED, "an open file", "it has more content than an image keeps");
    run.bytes.resize(static_cast<std::size_t>(end) - run.offset);
    PERDURE_CHECK(read_at(own.get(), run.offset, run.bytes));
    content.runs.push_back(std::move(run));
    at = end;
  }
  return content;
}

base::Result<std::optional<base::Hash128>> hash_of_file(int fd, std::uint64_t bytes) {
  PERDURE_TRY(const os::Fd own, readable(fd));
  base::Hasher hasher;
  std::vector<std::byte> block(base::MiB);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto want = std::min<std::uint64_t>(block.size(), bytes - at);
    const ssize_t got = ::pread(own.get(), block.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) PERDURE_CHECK(failed("pread"));
    if (got == 0) return std::nullopt;
    hasher.update(base::ConstByteSpan(block).first(static_cast<std::size_t>(got)));
    at += static_cast<std::uint64_t>(got);
  }
  return hasher.digest();
}

}  // namespace perdure::process
