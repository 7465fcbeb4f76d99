#include "os/write_protection.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "os/fork.hpp"
#include "os/system_call.hpp"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

namespace perdure::os {
namespace {

constexpr const char* kDevice = "/dev/userfaultfd";
// Since Linux 6.4 writes to untouched pages wait, too.
constexpr std::uint64_t kWaitUntouched = 1 << 13;
constexpr std::uint64_t kFeatures = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_REMAP |
                                    UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP | kWaitUntouched;

std::uint64_t page_of(std::uint64_t address, std::uint64_t bytes) { return address / bytes * bytes; }

/// Holds a descriptor, or the error number.
struct Outcome {
  Fd faults;
  int error = 0;
};

Outcome agreed(int fd) {
  Outcome tried{Fd(fd), fd < 0 ? errno : 0};
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatures;
  if (tried.faults && ::ioctl(tried.faults.get(), UFFDIO_API, &api) < 0) tried = {Fd(), errno};
  return tried;
}

Outcome from_device() {
  const int device =
      system_call({.call = "userfaultfd", .path = kDevice}, [] { return ::open(kDevice, O_RDWR | O_CLOEXEC); });
  const Fd owned(device);
  if (device < 0) return {Fd(), errno};
  return agreed(::ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK));
}

Outcome from_call(const char* hooked, int flags) {
  return agreed(system_call({.call = "userfaultfd", .path = hooked}, [&] {
    return static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags));
  }));
}

}  // namespace

// Marks the descriptor: a child of fork() would keep it open, and the waiting threads with it.
base::Result<WriteProtection> WriteProtection::open() {
  Outcome tried = from_device();
  if (!tried.faults) tried = from_call("all", 0);
  const int for_all = tried.error;
  WriteReach reach = WriteReach::all;
  if (!tried.faults) tried = from_call("program", UFFD_USER_MODE_ONLY), reach = WriteReach::program;
  if (!tried.faults)
    return base::fail(PERDURE_UNSUPPORTED, "userfaultfd",
                      "it cannot protect memory against writes: " + base::errno_error(for_all, "", "").cause +
                          "; for the program alone: " + base::errno_error(tried.error, "", "").cause,
                      "it needs Linux 6.4 or later, and access to /dev/userfaultfd or vm.unprivileged_userfaultfd");
  keep_from_children(tried.faults.get());
  return WriteProtection(std::move(tried.faults), reach);
}

base::Status WriteProtection::protect(std::uint64_t begin, std::uint64_t end) const {
  uffdio_register memory{{begin, end - begin}, UFFDIO_REGISTER_MODE_WP, 0};
  if (system_call({.call = "write_protect", .path = "", .offset = begin, .length = end - begin},
                  [&] { return ::ioctl(fd(), UFFDIO_REGISTER, &memory); }) < 0)
    return call_failed("UFFDIO_REGISTER", "memory");
  uffdio_writeprotect writes{{begin, end - begin}, UFFDIO_WRITEPROTECT_MODE_WP};
  while (::ioctl(fd(), UFFDIO_WRITEPROTECT, &writes) < 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    release(begin, end);
    return base::fail(base::errno_error(error, "UFFDIO_WRITEPROTECT", "memory"));
  }
  return {};
}

WriteProtection::Answer WriteProtection::allow(std::uint64_t begin, std::uint64_t end) const {
  uffdio_writeprotect writes{{begin, end - begin}, 0};
  while (::ioctl(fd(), UFFDIO_WRITEPROTECT, &writes) < 0) {
    if (errno == EINTR) continue;
    return errno == EAGAIN ? Answer::not_now : Answer::gone;
  }
  return Answer::done;
}

void WriteProtection::wake(std::uint64_t begin, std::uint64_t end) const {
  uffdio_range range{begin, end - begin};
  (void)::ioctl(fd(), UFFDIO_WAKE, &range);
}

bool WriteProtection::release(std::uint64_t begin, std::uint64_t end) const {
  uffdio_range range{begin, end - begin};
  return ::ioctl(fd(), UFFDIO_UNREGISTER, &range) == 0;
}

std::size_t WriteProtection::read(std::span<WriteEvent, kMostEvents> events) const {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<uffd_msg, kMostEvents> messages;
  ssize_t got = 0;
  do {
    got = ::read(fd(), messages.data(), sizeof messages);
  } while (got < 0 && errno == EINTR);
  const std::size_t count = got < 0 ? 0 : static_cast<std::size_t>(got) / sizeof(uffd_msg);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& arg = messages[i].arg;
    switch (messages[i].event) {
      case UFFD_EVENT_PAGEFAULT: {
        const std::uint64_t page = page_of(arg.pagefault.address, page_bytes);
        events[i] = {WriteEvent::What::write, page, page + page_bytes};
        break;
      }
      case UFFD_EVENT_REMAP:
        events[i] = {WriteEvent::What::gone, arg.remap.from, arg.remap.from + arg.remap.len, arg.remap.to};
        break;
      default:
        events[i] = {WriteEvent::What::gone, arg.remove.start, arg.remove.end};
    }
  }
  return count;
}

// The kernel answers this before it looks at the range. Earlier reads of memory come before the answer.
bool WriteProtection::changes() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  uffdio_writeprotect nothing{{0, 0}, UFFDIO_WRITEPROTECT_MODE_DONTWAKE};
  return ::ioctl(fd(), UFFDIO_WRITEPROTECT, &nothing) < 0 && errno == EAGAIN;
}

}  // namespace perdure::os
