#include "os/direct_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "os/system_call.hpp"

namespace perdure::os {
namespace {

bool is_memory(int fd) {
  struct statfs facts {};
  return ::fstatfs(fd, &facts) == 0 && (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC);
}

}  // namespace

// Opens a descriptor of its own: O_DIRECT is a property of the open file, which others write through, too.
DirectFile DirectFile::beside(const File& file, For use) {
  DirectFile direct;
  if (is_memory(file.fd())) return direct;
  const int flags = (use == For::writing ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC | O_NONBLOCK;
  const std::string again = "/proc/self/fd/" + std::to_string(file.fd());
  direct.fd_ = Fd(
      system_call({.call = "open", .path = file.path(), .flags = flags}, [&] { return ::open(again.c_str(), flags); }));
  direct.path_ = file.path();
  return direct;
}

std::uint64_t DirectFile::aligned_part(std::uint64_t offset, base::ConstByteSpan data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data.data());
  if (offset % kAlignment != 0 || address % kAlignment != 0) return 0;
  return data.size() / kAlignment * kAlignment;
}

// If a call wrote less than a whole block, the unaligned rest is refused next time.
bool DirectFile::write(std::uint64_t offset, base::ConstByteSpan data) const {
  while (!data.empty()) {
    const base::ConstByteSpan piece = data.first(std::min(data.size(), kMostPerCall));
    if (!may_have_size(offset + piece.size())) return false;
    const Call call{.call = "pwrite", .path = path_, .offset = offset, .data = piece, .flags = O_DIRECT};
    const ssize_t put = system_call(call, [&] {
      return ::pwrite(fd_.get(), piece.data(), transferable(call, piece.size()), static_cast<off_t>(offset));
    });
    if (put <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

// A rest that begins inside a page is behind the end of the file, or is refused next time.
std::size_t DirectFile::read(std::uint64_t offset, base::ByteSpan target) const {
  std::size_t done = 0;
  while (done < target.size()) {
    const base::ByteSpan rest = target.subspan(done, std::min(target.size() - done, kMostPerCall));
    const Call call{.call = "pread",
                    .path = path_,
                    .offset = offset + done,
                    .target = rest,
                    .length = rest.size(),
                    .flags = O_DIRECT};
    const ssize_t got = system_call(call, [&] {
      return ::pread(fd_.get(), rest.data(), transferable(call, rest.size()), static_cast<off_t>(offset + done));
    });
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace perdure::os
