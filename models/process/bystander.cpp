#include "process/bystander.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "os/file.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

/// Uses only raw system calls: this is a copy of one thread of many. Returns false if it cannot become that user.
bool become(uid_t user, gid_t group) {
  if (::getegid() != group && ::syscall(SYS_setresgid, group, group, group) != 0) return false;
  if (::geteuid() != user && ::syscall(SYS_setresuid, user, user, user) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 && ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

[[noreturn]] void be_it(uid_t user, gid_t group, int told) {
  const char good = become(user, group) ? 1 : 0;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::write(told, &good, 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

}  // namespace

base::Result<Bystander> Bystander::start(uid_t user, gid_t group) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return base::fail(base::errno_error(errno, "pipe2", "a process to look at"));
  const os::Fd told(ends[0]);
  os::Fd tells(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) be_it(user, group, tells.get());
  if (child < 0) return base::fail(base::errno_error(errno, "fork", "a process to look at"));
  Bystander bystander(child);
  tells.reset();
  char good = 0;
  while (::read(told.get(), &good, 1) < 0 && errno == EINTR) {
  }
  if (good == 1) return bystander;
  return base::fail(PERDURE_PERMISSION, "a process to look at", "it may not be user " + std::to_string(user));
}

Bystander::Bystander(Bystander&& other) noexcept : process_(std::exchange(other.process_, 0)) {}

Bystander::~Bystander() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  reap(process_);
}

bool may_be_confined() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kVersion = 1;
  return ::syscall(kCreateRuleset, nullptr, 0, kVersion) > 0;
}

}  // namespace perdure::process
