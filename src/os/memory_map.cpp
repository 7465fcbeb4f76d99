#include "os/memory_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "os/system_call.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace perdure::os {
namespace {

constexpr std::uint64_t kHugePage = 2 * base::MiB;

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

int advise(const std::string& path, std::byte* address, std::uint64_t bytes, int advice) {
  return system_call({.call = "madvise", .path = path, .length = bytes, .flags = advice},
                     [&] { return ::madvise(address, bytes, advice); });
}

tl::unexpected<base::Error> no_room(const std::string& path, std::uint64_t bytes) {
  return base::fail(PERDURE_NO_SPACE, path, "no memory for " + base::format_bytes(bytes) + " of it",
                    "free space on this file system, or memory, or ask for less", true);
}

// Reserves more address space than needed. It maps the file where its distance from a huge-page boundary equals that of
// `offset`, and unmaps the rest at both ends.
base::Result<std::byte*> map_aligned(const File& file, std::uint64_t offset, std::uint64_t bytes, int protection) {
  const std::uint64_t wanted = base::round_up(bytes, page_bytes());
  const std::uint64_t reserved = wanted + kHugePage;
  void* room = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return call_failed("mmap", offset, file.path());
  auto* first = static_cast<std::byte*>(room);
  const std::uint64_t skip = (offset - reinterpret_cast<std::uintptr_t>(first)) % kHugePage;
  std::byte* start = first + skip;
  void* mapped = nullptr;
  const int result = system_call({.call = "mmap", .path = file.path(), .offset = offset, .length = bytes}, [&] {
    mapped = ::mmap(start, wanted, protection, MAP_SHARED | MAP_FIXED, file.fd(), static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? -1 : 0;
  });
  if (result < 0) {
    auto error = call_failed("mmap", offset, file.path());
    ::munmap(room, reserved);
    return error;
  }
  if (skip > 0) ::munmap(first, skip);
  ::munmap(start + wanted, kHugePage - skip);
  return start;
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept { *this = std::move(other); }

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(offset_, other.offset_);
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, base::round_up(size_, page_bytes()));
}

base::Result<Mapping> Mapping::map(const File& file, std::uint64_t offset, std::uint64_t bytes, bool writable) {
  if (bytes == 0 || offset % page_bytes() != 0 || offset + bytes < offset)
    return base::fail(PERDURE_INVALID_ARGUMENT, file.path(), "mmap: empty range or offset within a page");
  PERDURE_TRY(const std::uint64_t file_bytes, file.size());
  if (offset + bytes > file_bytes)  // touching memory behind the end would raise SIGBUS
    return base::fail(PERDURE_CORRUPT, file.path(),
                      "mmap at offset " + std::to_string(offset) + ": the file ends after " +
                          std::to_string(file_bytes) + " bytes, " + std::to_string(offset + bytes) + " expected");
  Mapping mapping;
  mapping.path_ = file.path();
  mapping.offset_ = offset;
  PERDURE_TRY(mapping.data_, map_aligned(file, offset, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ));
  mapping.size_ = bytes;
  // Linux before 5.14 cannot populate for writing. There populate() goes through the file, which must stay open.
  if (writable && advise(file.path(), mapping.data_, 0, MADV_POPULATE_WRITE) < 0) {
    mapping.file_ = Fd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
    if (!mapping.file_) return call_failed("fcntl", file.path());
  }
  return mapping;
}

base::Result<Mapping> Mapping::anonymous(std::uint64_t bytes, const std::string& name) {
  if (bytes == 0 || bytes > (std::uint64_t{1} << 60U))
    return base::fail(PERDURE_INVALID_ARGUMENT, name, "mmap: " + std::to_string(bytes) + " bytes were asked for");
  const std::uint64_t wanted = base::round_up(bytes, page_bytes());
  const std::uint64_t reserved = wanted + kHugePage;
  void* room = MAP_FAILED;
  const int result = system_call({.call = "mmap", .path = name, .length = bytes}, [&] {
    room = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? -1 : 0;
  });
  if (result < 0 && errno == ENOMEM) return no_room(name, bytes);
  if (result < 0) return call_failed("mmap", name);
  auto* first = static_cast<std::byte*>(room);
  const std::uint64_t skip = (0 - reinterpret_cast<std::uintptr_t>(first)) % kHugePage;
  if (skip > 0) ::munmap(first, skip);
  ::munmap(first + skip + wanted, kHugePage - skip);
  Mapping mapping;
  mapping.path_ = name;
  mapping.data_ = first + skip;
  mapping.size_ = bytes;
  return mapping;
}

void Mapping::advise_huge_pages() const {
  if (data_ != nullptr) (void)advise(path_, data_, size_, MADV_HUGEPAGE);
}

base::Status Mapping::populate(std::uint64_t offset, std::uint64_t bytes, Access access) const {
  if (offset > size_ || bytes > size_ - offset)
    return base::fail(PERDURE_INVALID_ARGUMENT, path_, "populate: the range is not within the mapping");
  if (bytes == 0) return {};
  const std::uint64_t first = offset / page_bytes() * page_bytes();
  const std::uint64_t length = base::round_up(offset + bytes - first, page_bytes());
  if (file_) return populate_through_file(first, length);
  if (advise(path_, data_ + first, length, access == Access::read ? MADV_POPULATE_READ : MADV_POPULATE_WRITE) == 0)
    return {};
  if (errno == EFAULT || errno == ENOMEM) return no_room(path_, bytes);
  return call_failed("madvise", offset, path_);
}

base::Status Mapping::populate_through_file(std::uint64_t first, std::uint64_t length) const {
  // The file's size stays: the mapping may end within its last page.
  const int result = system_call({.call = "fallocate", .path = path_, .offset = first, .length = length}, [&] {
    return ::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_ + first),
                       static_cast<off_t>(length));
  });
  if (result < 0 && (errno == ENOSPC || errno == ENOMEM)) return no_room(path_, length);
  if (result < 0) return call_failed("fallocate", first, path_);
  // An atomic addition of nothing maps the page for writing, and loses no concurrent write of another process.
  for (std::uint64_t at = first; at < first + length && at < size_; at += page_bytes())
    std::atomic_ref(reinterpret_cast<unsigned char&>(data_[at])).fetch_or(0);
  return {};
}

}  // namespace perdure::os
