#include "process/file_duplicate.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace perdure::process {
namespace {

std::string holder_named(pid_t process) { return "process " + std::to_string(process); }

}  // namespace

base::Result<FileDuplicates> FileDuplicates::of(pid_t process) {
  os::Fd reference(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (reference) return FileDuplicates(process, std::move(reference));
  if (errno == ESRCH || errno == EINVAL)
    return base::fail(PERDURE_NOT_FOUND, holder_named(process), "there is no such process, or it has ended");
  return base::fail(base::errno_error(errno, "pidfd_open", holder_named(process)));
}

base::Result<os::Fd> FileDuplicates::duplicate(int number) const {
  const auto fd = ::syscall(SYS_pidfd_getfd, reference_.get(), number, 0);
  if (fd >= 0) return os::Fd(static_cast<int>(fd));
  const int error = errno;
  if (error == EBADF) return os::Fd();
  if (error == ESRCH) return base::fail(PERDURE_NOT_FOUND, holder_named(process_), "it has ended");
  if (error == EMFILE)
    return base::fail(PERDURE_NO_SPACE, holder_named(process_), "this process has no descriptor left for a duplicate",
                      "raise the limit of open files (ulimit -n)");
  if (error == EPERM)
    return base::fail(PERDURE_PERMISSION, holder_named(process_), "its descriptors may not be looked at",
                      "be the same user, or have CAP_SYS_PTRACE");
  return base::fail(
      base::errno_error(error, "pidfd_getfd", holder_named(process_) + " descriptor " + std::to_string(number)));
}

}  // namespace perdure::process
