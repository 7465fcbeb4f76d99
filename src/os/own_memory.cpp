#include "os/own_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/bytes.hpp"

namespace perdure::os {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_anonymous(const char* name) {
  return *name == '\0' || std::strcmp(name, "[heap]") == 0 || std::strncmp(name, "[anon:", 6) == 0;
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
    if (!is_anonymous(line.c_str() + name)) continue;
    if (!all.empty() && all.back().end == begin)
      all.back().end = end;
    else
      all.push_back({begin, end});
  }
  return all;
}

base::Result<std::vector<AddressRange>> private_memory() {
  const std::string maps = text_of("/proc/self/maps");
  if (maps.empty()) return base::fail(PERDURE_UNSUPPORTED, "/proc/self/maps", "it cannot be read");
  return private_memory_in(maps);
}

std::uint64_t pinned_bytes() {
  const std::string status = text_of("/proc/self/status");
  const std::size_t at = status.find("\nVmPin:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 10) * base::KiB;
}

bool pins_silently(const std::string& path) { return path.starts_with("/dev/nvidia"); }

std::string silent_device() {
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string path = std::filesystem::read_symlink(at->path(), gone);
    if (!gone && pins_silently(path)) return path;
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
