#include "process/remote_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/file.hpp"

namespace perdure::process {
namespace {

/// Repeats a partial move.
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

/// Reads memory that the process itself may not read, as debuggers do. It has the signature of process_vm_readv.
ssize_t read_protected(pid_t process, const iovec* here, unsigned long, const iovec* there, unsigned long,
                       unsigned long) {
  const os::Fd memory(::open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory) return -1;
  return ::pread(memory.get(), here->iov_base, here->iov_len, reinterpret_cast<off_t>(there->iov_base));
}

ssize_t read_some(pid_t process, const iovec* here, unsigned long parts, const iovec* there, unsigned long parts_there,
                  unsigned long flags) {
  const ssize_t got = ::process_vm_readv(process, here, parts, there, parts_there, flags);
  return got < 0 && errno == EFAULT ? read_protected(process, here, parts, there, parts_there, flags) : got;
}

}  // namespace

base::Status read_memory(pid_t process, std::uint64_t address, base::ByteSpan target) {
  return move_all(process, address, target.data(), target.size(), "read", read_some);
}

base::Status write_memory(pid_t process, std::uint64_t address, base::ConstByteSpan bytes) {
  return move_all(process, address, const_cast<std::byte*>(bytes.data()), bytes.size(), "write",
                  ::process_vm_writev);  // NOLINT: what is here is only read
}

}  // namespace perdure::process
