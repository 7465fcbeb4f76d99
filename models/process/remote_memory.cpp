#include "process/remote_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "os/file.hpp"

namespace perdure::process {
namespace {

/// Repeats what was moved in part only.
template <class Move>
base::Status move_all(pid_t process, std::uint64_t address, std::byte* here, std::size_t bytes, const char* what,
                      Move move) {
  while (bytes > 0) {
    iovec local{here, bytes}, remote{reinterpret_cast<void*>(address), bytes};  // NOLINT: an address there
    const ssize_t moved = move(process, &local, 1UL, &remote, 1UL, 0UL);
    if (moved <= 0) {
      char at[32];
      std::snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(address));
      return base::fail(base::errno_error(moved < 0 ? errno : EFAULT, std::string(what) + " its memory at " + at,
                                          "process " + std::to_string(process)));
    }
    here += moved;
    address += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return {};
}

/// What the process may not read itself has content all the same, if it was written before: this file shows it.
bool read_protected(pid_t process, std::uint64_t address, base::ByteSpan target) {
  const os::Fd memory(::open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  while (memory && !target.empty()) {
    const ssize_t got = ::pread(memory.get(), target.data(), target.size(), static_cast<off_t>(address));
    if (got <= 0) return false;
    target = target.subspan(static_cast<std::size_t>(got));
    address += static_cast<std::uint64_t>(got);
  }
  return target.empty();
}

}  // namespace

base::Status read_memory(pid_t process, std::uint64_t address, base::ByteSpan target) {
  auto read = move_all(process, address, target.data(), target.size(), "read", ::process_vm_readv);
  if (!read && read_protected(process, address, target)) return {};
  return read;
}

base::Status write_memory(pid_t process, std::uint64_t address, base::ConstByteSpan bytes) {
  return move_all(process, address, const_cast<std::byte*>(bytes.data()), bytes.size(), "write",
                  ::process_vm_writev);  // NOLINT: what is here is only read
}

}  // namespace perdure::process
