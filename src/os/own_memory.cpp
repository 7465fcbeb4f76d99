#include "os/own_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>

#include "base/bytes.hpp"
#include "os/file.hpp"

namespace perdure::os {
namespace {

constexpr std::size_t kMostQueries = 256;  // more take longer than the list of all mappings
constexpr std::uint64_t kNear = 1 << 20;   // to include a smaller gap costs less than another query

/// The argument of PROCMAP_QUERY for one mapping (Linux 6.11; older headers lack it).
struct AskedMapping {
  std::uint64_t size = sizeof(AskedMapping);
  std::uint64_t wanted = 0, address = 0;
  std::uint64_t begin = 0, end = 0, kind = 0, page_bytes = 0, offset = 0, inode = 0;
  std::uint32_t device_major = 0, device_minor = 0, name_bytes = 0, build_id_bytes = 0;
  std::uint64_t name = 0, build_id = 0;
};
constexpr unsigned long kQueryMapping = _IOWR('f', 17, AskedMapping);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kShared = 8;  // 4 is executable
constexpr std::uint64_t kKinds = kReadable | kWritable | kShared, kPrivateAndWritable = kReadable | kWritable;
constexpr std::uint64_t kThisOrTheNext = 16;

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_anonymous(std::string_view name) { return name.empty() || name == "[heap]" || name.starts_with("[anon:"); }

/// Appends `memory`, merged with the last range if that is adjacent.
void add(std::vector<AddressRange>& all, const AddressRange& memory) {
  if (!all.empty() && all.back().end == memory.begin)
    all.back().end = memory.end;
  else
    all.push_back(memory);
}

}  // namespace

std::vector<AddressRange> private_memory_in(const std::string& maps) {
  std::vector<AddressRange> all;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    unsigned long long begin = 0, end = 0, inode = 1;
    char access[5] = "";
    int name = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*x %*s %llu %n", &begin, &end, access, &inode, &name) != 4) continue;
    if (access[0] != 'r' || access[1] != 'w' || access[3] != 'p' || inode != 0 || name == 0) continue;
    if (is_anonymous(line.c_str() + name)) add(all, {begin, end});
  }
  return all;
}

std::optional<std::vector<AddressRange>> asked_private_memory(std::span<const AddressRange> within) {
  const Fd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  std::vector<AddressRange> sorted(within.begin(), within.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<AddressRange> all;
  for (const AddressRange& range : sorted) {
    std::uint64_t at = all.empty() ? range.begin : std::max(range.begin, all.back().end);
    while (at < range.end) {
      std::array<char, 256> name{};
      AskedMapping query{};
      query.wanted = kThisOrTheNext;
      query.address = at;
      query.name_bytes = name.size();
      query.name = reinterpret_cast<std::uint64_t>(name.data());
      if (::ioctl(maps.get(), kQueryMapping, &query) != 0) {
        if (errno == ENOENT) return all;  // no mapping follows
        return std::nullopt;
      }
      if (query.begin >= range.end) break;
      at = query.end;
      const bool suits = (query.kind & kKinds) == kPrivateAndWritable && query.inode == 0 && is_anonymous(name.data());
      if (suits) add(all, {query.begin, query.end});
    }
  }
  return all;
}

base::Result<std::vector<AddressRange>> private_memory(std::span<const AddressRange> within) {
  if (within.size() <= kMostQueries)
    if (auto asked = asked_private_memory(within)) return std::move(*asked);
  const std::string maps = text_of("/proc/self/maps");
  if (maps.empty()) return base::fail(PERDURE_UNSUPPORTED, "/proc/self/maps", "it cannot be read");
  return private_memory_in(maps);
}

std::uint64_t pinned_bytes() {
  const std::string status = text_of("/proc/self/status");
  const std::size_t at = status.find("\nVmPin:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 10) * base::KiB;
}

bool pins_silently(std::string_view path) { return path.starts_with("/dev/nvidia"); }

std::string silent_device() {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* const one = open ? ::readdir(open.get()) : nullptr) {
    std::array<char, 256> path;
    const ssize_t length = ::readlinkat(::dirfd(open.get()), one->d_name, path.data(), path.size());
    if (length <= 0) continue;
    const std::string_view seen(path.data(), static_cast<std::size_t>(length));
    if (pins_silently(seen)) return std::string(seen);
  }
  return "";
}

// On Linux MS_ASYNC only looks for gaps (msync(2): ENOMEM).
bool is_mapped(std::uint64_t begin, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = begin / page * page;
  return ::msync(reinterpret_cast<void*>(first), begin + bytes - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

namespace {

// Bisects ranges that are not all mapped, gaps included. Each gap costs a few queries per halving.
std::optional<std::size_t> unmapped_among(std::span<const AddressRange> ascending) {
  if (ascending.size() == 1) return 0;
  std::size_t begin = 0;
  for (const std::size_t end : {ascending.size() / 2, ascending.size()}) {
    const auto half = ascending.subspan(begin, end - begin);
    std::uint64_t last = 0;
    for (const AddressRange& range : half) last = std::max(last, range.end);
    if (!is_mapped(half.front().begin, last - half.front().begin))
      if (const auto found = unmapped_among(half)) return begin + *found;
    begin = end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> first_unmapped(std::span<const AddressRange> ascending) {
  for (std::size_t first = 0, next = 0; first < ascending.size(); first = next) {
    std::uint64_t end = ascending[first].end;
    for (next = first + 1; next < ascending.size(); ++next) {
      if (ascending[next].begin > end && ascending[next].begin - end > kNear) break;
      end = std::max(end, ascending[next].end);
    }
    if (is_mapped(ascending[first].begin, end - ascending[first].begin)) continue;
    if (const auto found = unmapped_among(ascending.subspan(first, next - first))) return first + *found;
  }
  return std::nullopt;
}

int copy_own_memory(std::uint64_t from, std::byte* to, std::uint64_t bytes) {
  while (bytes > 0) {
    iovec here{to, bytes};
    iovec there{reinterpret_cast<void*>(from), bytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EFAULT;
    from += static_cast<std::uint64_t>(got);
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace perdure::os
