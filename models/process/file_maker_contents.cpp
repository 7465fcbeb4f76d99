// Makes files whose content is in the image: pipes, unlinked files and memfds.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "process/file_maker.hpp"
#include "process/reopened.hpp"

namespace perdure::process {
namespace {

base::Status failed(const char* call, const std::string& object) {
  return base::fail(base::errno_error(errno, call, object));
}

base::Status fill_file(int fd, const FileContent& content, const std::string& object) {
  if (::ftruncate(fd, static_cast<off_t>(content.size)) != 0) return failed("ftruncate", object);
  for (const auto& run : content.runs) {
    base::ConstByteSpan rest = run.bytes;
    for (std::uint64_t at = run.offset; !rest.empty();) {
      const ssize_t done = ::pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return failed("pwrite", object);
      rest = rest.subspan(static_cast<std::size_t>(done));
      at += static_cast<std::uint64_t>(done);
    }
  }
  if (::fchmod(fd, content.permissions) != 0) return failed("fchmod", object);
  return {};
}

/// Makes it in its old directory if possible, otherwise in a temporary one.
os::Fd nameless_file(const std::string& path) {
  constexpr int kFlags = O_TMPFILE | O_RDWR | O_CLOEXEC;
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  for (const auto& one : {directory, std::filesystem::temp_directory_path(error), std::filesystem::path("/dev/shm")})
    if (os::Fd fd(::open(one.c_str(), kFlags, 0600)); fd) return fd;
  return {};
}

base::Status seek(int fd, std::uint64_t offset, const std::string& object) {
  if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) == static_cast<off_t>(offset)) return {};
  return failed("lseek", object);
}

}  // namespace

base::Result<os::Fd> FileMaker::make_of(const UnlinkedFile& what, std::uint32_t file) {
  auto& own = contents_[what.content].file;
  if (!own) {
    own = nameless_file(what.path);
    if (!own) PERDURE_CHECK(failed("open (O_TMPFILE)", name_of(file)));
    PERDURE_CHECK(fill_file(own.get(), files_.contents[what.content], name_of(file)));
  }
  PERDURE_TRY(os::Fd fd, reopened(own.get(), flags_of(file), name_of(file)));
  PERDURE_CHECK(seek(fd.get(), files_.files[file].offset, name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const MemoryFile& what, std::uint32_t file) {
  auto& own = contents_[what.content].file;
  if (!own) {
    own = os::Fd(::memfd_create(what.name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!own) PERDURE_CHECK(failed("memfd_create", name_of(file)));
    PERDURE_CHECK(fill_file(own.get(), files_.contents[what.content], name_of(file)));
  }
  PERDURE_TRY(os::Fd fd, reopened(own.get(), flags_of(file), name_of(file)));
  PERDURE_CHECK(seek(fd.get(), files_.files[file].offset, name_of(file)));
  return fd;
}

base::Status FileMaker::seal() {
  for (std::size_t i = 0; i < contents_.size(); ++i) {
    const auto seals = static_cast<int>(files_.contents[i].seals);
    if (seals != 0 && ::fcntl(contents_[i].file.get(), F_ADD_SEALS, seals) != 0)
      return failed("F_ADD_SEALS", "a file in memory");
  }
  return {};
}

bool FileMaker::keeps_messages(std::uint32_t content) const {
  return std::any_of(files_.files.begin(), files_.files.end(), [&](const OpenFile& one) {
    const auto* pipe = std::get_if<PipeEnd>(&one.what);
    const auto* fifo = std::get_if<FifoEnd>(&one.what);
    const bool is = (pipe != nullptr && pipe->content == content) || (fifo != nullptr && fifo->content == content);
    return is && (one.flags & O_DIRECT) != 0;
  });
}

base::Status FileMaker::fill_pipe(const Content& pipe, std::uint32_t content, const std::string& object) {
  const auto& kept = files_.contents[content];
  const int in = pipe.written.get();
  const auto capacity = static_cast<int>(std::min<std::uint32_t>(kept.capacity, INT32_MAX));
  if (capacity > 0 && ::fcntl(in, F_GETPIPE_SZ) != capacity && ::fcntl(in, F_SETPIPE_SZ, capacity) < 0)
    return failed("F_SETPIPE_SZ (see /proc/sys/fs/pipe-max-size)", object);
  const std::uint32_t mode = O_NONBLOCK | (keeps_messages(content) ? O_DIRECT : 0);
  PERDURE_CHECK(set_flags(in, mode, object));
  for (const auto& run : kept.runs) {
    const ssize_t done = ::write(in, run.bytes.data(), run.bytes.size());
    if (done < 0) return failed("write", object);
    if (static_cast<std::size_t>(done) != run.bytes.size())
      return base::fail(PERDURE_NO_SPACE, object, "what waited in it does not fit in any more");
  }
  return {};
}

/// Uses the original ends of the pipe first, then opens them again. The ends of a FIFO are always opened again.
base::Result<os::Fd> FileMaker::end_of_pipe(Content& pipe, std::uint32_t file) {
  const auto mode = flags_of(file) & O_ACCMODE;
  const bool writes = mode == O_WRONLY;
  const os::Fd& end = writes ? pipe.written : pipe.file;
  bool& taken = writes ? pipe.written_taken : pipe.file_taken;
  if (taken || mode == O_RDWR) return reopened(end.get(), flags_of(file), name_of(file));
  taken = true;
  os::Fd fd(::fcntl(end.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd) PERDURE_CHECK(failed("F_DUPFD_CLOEXEC", name_of(file)));
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const PipeEnd& what, std::uint32_t file) {
  auto& pipe = contents_[what.content];
  if (!pipe.file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) PERDURE_CHECK(failed("pipe2", name_of(file)));
    pipe.file = os::Fd(ends[0]);
    pipe.written = os::Fd(ends[1]);
    PERDURE_CHECK(fill_pipe(pipe, what.content, name_of(file)));
  }
  return end_of_pipe(pipe, file);
}

base::Result<os::Fd> FileMaker::make_of(const FifoEnd& what, std::uint32_t file) {
  auto& pipe = contents_[what.content];
  if (!pipe.file) {
    PERDURE_TRY(pipe.file, found(what.file, name_of(file)));
    PERDURE_TRY(pipe.written, reopened(pipe.file.get(), O_RDWR | O_NONBLOCK, name_of(file)));
    pipe.file_taken = pipe.written_taken = true;
    int waiting = 0;
    const bool empty = ::ioctl(pipe.written.get(), FIONREAD, &waiting) == 0 && waiting == 0;
    if (!empty) note(file, "others have written to it meanwhile: what waited in it is not put back");
    if (empty) PERDURE_CHECK(fill_pipe(pipe, what.content, name_of(file)));
  }
  return end_of_pipe(pipe, file);
}

}  // namespace perdure::process
