#include "os/bounced_copy.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "base/hash.hpp"
#include "os/own_memory.hpp"

namespace perdure::os {
namespace {

constexpr std::size_t kHugePageBytes = 2 << 20;
static_assert(BouncedCopy::kMostThreads * BouncedCopy::kBufferBytes < kHugePageBytes);

// Here the kernel reads this process's memory through the processor's own page lookup, as any program does. It looks up
// only the target's pages one by one, which is quick if they are one huge page. process_vm_readv would look up each
// page that it reads, which takes about as long as copying it. The call is made by its number: a sanitizer must not
// check this read, because the memory's owner may free it.
ssize_t read_into(std::byte* to, std::uint64_t from, std::size_t bytes) {
  iovec here{reinterpret_cast<void*>(from), bytes};
  iovec there{to, bytes};
  return ::syscall(SYS_process_vm_writev, ::gettid(), &here, 1UL, &there, 1UL, 0UL);  // all arguments are as wide as
                                                                                      // registers
}

}  // namespace

// Maps one huge page for all buffers, if the system has one.
BouncedCopy::BouncedCopy()
    : mapped_(::mmap(nullptr, 2 * kHugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (mapped_ == MAP_FAILED) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
  buffers_ = static_cast<std::byte*>(mapped_) + (kHugePageBytes - begin % kHugePageBytes) % kHugePageBytes;
  (void)::madvise(buffers_, kHugePageBytes, MADV_HUGEPAGE);
}

BouncedCopy::~BouncedCopy() {
  if (buffers_ != nullptr) ::munmap(mapped_, 2 * kHugePageBytes);
}

// Touches the byte behind the buffers: another thread may use its buffer by now.
void BouncedCopy::prepare() {
  if (buffers_ != nullptr) *static_cast<volatile std::byte*>(buffers_ + kHugePageBytes - 1) = std::byte{0};
}

int BouncedCopy::copy(std::size_t thread, std::uint64_t from, std::byte* to, std::uint64_t bytes) {
  if (buffers_ == nullptr) return copy_own_memory(from, to, bytes);
  std::byte* const buffer = buffers_ + thread * kBufferBytes;
  while (bytes > 0) {
    const ssize_t got = read_into(buffer, from, std::min<std::uint64_t>(bytes, kBufferBytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EPERM || errno == ENOSYS))
      return copy_own_memory(from, to, bytes);  // a sandbox refuses
                                                // the call
    if (got <= 0) return got < 0 ? errno : EFAULT;
    base::copy_past_caches(to, buffer, static_cast<std::size_t>(got));
    from += static_cast<std::uint64_t>(got);
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace perdure::os
