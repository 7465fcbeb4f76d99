#include "os/own_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "os/file.hpp"

namespace perdure::os {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kMostQueries = 256;  // a mapping in the kernel's list costs about as much

/// Of one mapping: PROCMAP_QUERY of Linux 6.11, which headers may be older than.
struct AskedMapping {
  std::uint64_t size = sizeof(AskedMapping);
  std::uint64_t wanted = 0, address = 0;
  std::uint64_t begin = 0, end = 0, kind = 0, page_bytes = 0, offset = 0, inode = 0;
  std::uint32_t device_major = 0, device_minor = 0, name_bytes = 0, build_id_bytes = 0;
  std::uint64_t name = 0, build_id = 0;
};
constexpr unsigned long kQueryMapping = _IOWR('f', 17, AskedMapping);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kShared = 8;  // and 4, which is executable
constexpr std::uint64_t kKinds = kReadable | kWritable | kShared, kPrivateAndWritable = kReadable | kWritable;
constexpr std::uint64_t kThisOrTheNext = 16;

// Called by every checkpoint that copies on write: streams would take a third of its time.
std::string text_of(const char* path) {
  std::string text;
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return text;
  for (std::size_t size = 0;; size = text.size()) {
    text.resize(size + kReadBytes);
    const ssize_t got = ::read(file.get(), text.data() + size, kReadBytes);
    text.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return {};
  }
}

bool is_anonymous(std::string_view name) { return name.empty() || name == "[heap]" || name.starts_with("[anon:"); }

/// Takes what the next field of `line` is, in this base; false: it is no such number.
bool take_number(std::string_view& line, std::uint64_t& number, int base) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return true;
}

/// Takes the next character; false: it is another one.
bool take_mark(std::string_view& line, char mark) {
  if (line.empty() || line.front() != mark) return false;
  line.remove_prefix(1);
  return true;
}

bool take_word(std::string_view& line, std::string_view& word) {
  const std::size_t end = line.find(' ');
  if (end == std::string_view::npos || end == 0) return false;
  word = line.substr(0, end);
  line.remove_prefix(end + 1);
  return true;
}

/// The memory of a line of /proc/PID/maps, where it is of the kind that is looked for.
std::optional<AddressRange> private_memory_of(std::string_view line) {
  AddressRange memory;
  std::string_view access, offset, device;
  std::uint64_t inode = 0;
  const bool understood = take_number(line, memory.begin, 16) && take_mark(line, '-') &&
                          take_number(line, memory.end, 16) && take_mark(line, ' ') && take_word(line, access) &&
                          take_word(line, offset) && take_word(line, device) && take_number(line, inode, 10);
  if (!understood || !access.starts_with("rw") || access.size() != 4 || access[3] != 'p' || inode != 0)
    return std::nullopt;
  const std::size_t name = line.find_first_not_of(' ');
  return is_anonymous(name == std::string_view::npos ? "" : line.substr(name)) ? std::optional(memory) : std::nullopt;
}

}  // namespace

std::vector<AddressRange> private_memory_in(std::string_view maps) {
  std::vector<AddressRange> all;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const auto memory = private_memory_of(maps.substr(0, end));
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!memory) continue;
    if (!all.empty() && all.back().end == memory->begin)
      all.back().end = memory->end;
    else
      all.push_back(*memory);
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
        if (errno == ENOENT) return all;  // there is none behind it
        return std::nullopt;
      }
      if (query.begin >= range.end) break;
      at = query.end;
      const bool suits = (query.kind & kKinds) == kPrivateAndWritable && query.inode == 0 && is_anonymous(name.data());
      if (suits && !all.empty() && all.back().end == query.begin)
        all.back().end = query.end;
      else if (suits)
        all.push_back({query.begin, query.end});
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
