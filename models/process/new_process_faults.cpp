// Makes a new process open a userfaultfd for its missing pages.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process/new_process.hpp"

namespace perdure::process {
namespace {

base::Error cannot_wait_for_pages(pid_t process, const std::string& what, int error) {
  const bool refused = error == EPERM || error == EACCES;
  return {refused ? PERDURE_PERMISSION : PERDURE_UNSUPPORTED, process_text(process),
          "it cannot wait for its pages: " + what + ": " + std::strerror(error),
          refused ? "have CAP_SYS_PTRACE (setcap cap_sys_ptrace+ep, or root)" : "", false};
}

/// Reports forks, moves and drops of memory, and which thread waits.
constexpr std::uint64_t kEvents = UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP |
                                  UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP;

}  // namespace

// The kernel's own accesses to the memory must wait too, so UFFD_USER_MODE_ONLY is not set. The process keeps no
// descriptor of it.
base::Result<os::Fd> NewProcess::take_faults() {
  PERDURE_TRY(const auto number,
              carry_out(process_, registers_, instruction_, {SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK}));
  if (number < 0) return base::fail(cannot_wait_for_pages(process_, "userfaultfd", static_cast<int>(-number)));
  const os::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
  os::Fd faults(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
  const int error = errno;
  PERDURE_CHECK(ask({SYS_close, static_cast<std::uint64_t>(number)}, "close a descriptor of"));
  if (!faults) return base::fail(cannot_wait_for_pages(process_, "pidfd_getfd", error));
  uffdio_api api{UFFD_API, kEvents, 0};
  if (::ioctl(faults.get(), UFFDIO_API, &api) < 0)
    return base::fail(cannot_wait_for_pages(process_, "events of its memory", errno));
  return faults;
}

}  // namespace perdure::process
