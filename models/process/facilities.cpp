#include "process/facilities.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "os/file.hpp"
#include "process/facilities_kernel.hpp"
#include "process/privileges.hpp"
#include "process/proc_text.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

void end_child(pid_t child) {
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

/// A child that sleeps until this object ends.
class IdleChild {
 public:
  IdleChild() : child_(::fork()) {
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  ~IdleChild() {
    if (child_ > 0) end_child(child_);
  }
  IdleChild(const IdleChild&) = delete;
  IdleChild& operator=(const IdleChild&) = delete;
  pid_t process() const { return child_; }

 private:
  pid_t child_;
};

int error_of(bool good) { return good ? 0 : errno; }

/// Runs a test in a child of its own. Returns its result: 0 or an error number.
int in_a_child(const std::function<int()>& tried) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(tried());
  if (child < 0) return errno;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int seize(pid_t process) {
  if (trace(PTRACE_SEIZE, process, 0, 0) != 0) return errno;
  const bool stopped = trace(PTRACE_INTERRUPT, process, 0, 0) == 0 && wait_for_stop(process).has_value();
  return error_of(stopped && trace(PTRACE_DETACH, process, 0, 0) == 0);
}

int copy_memory(pid_t process, bool writes) {
  static int value = 0;
  int copy = 0;
  const iovec here{&copy, sizeof copy}, there{&value, sizeof value};
  const auto moved = writes ? ::process_vm_writev(process, &here, 1, &there, 1, 0)
                            : ::process_vm_readv(process, &here, 1, &there, 1, 0);
  return error_of(moved == sizeof copy);
}

int rseq_configuration(pid_t process) {
  if (trace(PTRACE_SEIZE, process, 0, 0) != 0 || trace(PTRACE_INTERRUPT, process, 0, 0) != 0 || !wait_for_stop(process))
    return errno;
  __ptrace_rseq_configuration found{};
  const int error =
      error_of(trace(static_cast<__ptrace_request>(PTRACE_GET_RSEQ_CONFIGURATION), process, sizeof found, &found) >= 0);
  trace(PTRACE_DETACH, process, 0, 0);
  return error;
}

int duplicate_files(pid_t process) {
  const os::Fd reference(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!reference) return errno;
  int number = 0;
  while (number < 1024 && ::fcntl(number, F_GETFD) < 0) ++number;
  const os::Fd duplicate(static_cast<int>(::syscall(SYS_pidfd_getfd, reference.get(), number, 0)));
  return error_of(static_cast<bool>(duplicate));
}

/// Chooses a number that was free a moment ago. If another process takes it meanwhile, the error is EEXIST, which shows
/// that we may choose.
int choose_number() {
  pid_t number = ::fork();
  if (number == 0) ::_exit(0);
  if (number < 0) return errno;
  while (::waitpid(number, nullptr, 0) < 0 && errno == EINTR) {
  }
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
  arguments.set_tid_size = 1;
  const long child = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) ::_exit(0);
  if (child < 0) return errno == EEXIST ? 0 : errno;
  while (::waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

int mapped_files(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process) + "/map_files/";
  DIR* entries = ::opendir(directory.c_str());
  if (entries == nullptr) return errno;
  int error = ENOENT;
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    error = error_of(static_cast<bool>(os::Fd(::open((directory + entry->d_name).c_str(), O_RDONLY | O_CLOEXEC))));
    break;
  }
  ::closedir(entries);
  return error;
}

}  // namespace

std::string trace_scope() {
  std::string scope = proc_text("/proc/sys/kernel/yama/ptrace_scope");
  while (scope.ends_with('\n')) scope.pop_back();
  return scope;
}

bool may_trace_descendants(const std::string& scope, std::uint64_t capabilities) {
  if (scope.empty() || scope == "0") return true;
  return scope != "3" && (capabilities >> CAP_SYS_PTRACE & 1) != 0;
}

std::uint64_t own_capabilities() { return parse_privileges(proc_text("/proc/self/status")).effective; }

FacilityErrors try_facilities() {
  let_children_be_traced();
  FacilityErrors errors{};
  const IdleChild child;
  const pid_t process = child.process();
  const auto put = [&](Facility facility, int error) { errors[static_cast<std::size_t>(facility)] = error; };
  put(Facility::trace_child, seize(process));
  put(Facility::trace_sibling, in_a_child([&] { return seize(process); }));
  put(Facility::read_memory, copy_memory(process, false));
  put(Facility::write_memory, copy_memory(process, true));
  put(Facility::rseq_configuration, rseq_configuration(process));
  put(Facility::compare_files, error_of(::syscall(SYS_kcmp, ::getpid(), process, KCMP_VM, 0, 0) >= 0));
  put(Facility::duplicate_files, duplicate_files(process));
  put(Facility::choose_numbers, choose_number());
  put(Facility::set_program, in_a_child(may_set_program));
  put(Facility::page_scan, may_scan_pages(process));
  put(Facility::mapped_files, mapped_files(process));
  put(Facility::user_faults, may_handle_faults(0));
  put(Facility::user_faults_write, may_handle_faults(kFaultsWriteAsync));
  put(Facility::user_namespace, in_a_child([] { return error_of(::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0); }));
  return errors;
}

}  // namespace perdure::process
