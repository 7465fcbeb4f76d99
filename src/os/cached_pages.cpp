#include "os/cached_pages.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/system_call.hpp"

namespace perdure::os {
namespace {

// Headers of older systems define neither.
constexpr long kCachestat = 451;  // the same on every supported architecture
struct Range {
  std::uint64_t offset, bytes;
};
struct Answer {
  std::uint64_t cached, dirty, written_back, evicted, recently_evicted;
};

bool is_overlay(const File& file) {
  struct statfs facts {};
  return ::fstatfs(file.fd(), &facts) != 0 || facts.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

std::optional<CachedBytes> cached_bytes(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  if (is_overlay(file)) return std::nullopt;
  Range range{offset, bytes};
  Answer pages{};
  const Call call{.call = "cachestat", .path = file.path(), .offset = offset, .length = bytes};
  const long result = system_call(call, [&] { return ::syscall(kCachestat, file.fd(), &range, &pages, 0U); });
  if (result != 0) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return CachedBytes{pages.cached * page, (pages.dirty + pages.written_back) * page};
}

}  // namespace perdure::os
