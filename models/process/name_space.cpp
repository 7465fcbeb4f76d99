#include "process/name_space.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

/// The task of the first process in the name space, which has a copy of this memory.
struct FirstTask {
  int control, others;  // its own end, and its maker's, which it closes
  pid_t number;
  void (*run)(void*);
  void* argument;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shared;  // mappings that are shared with others
  bool shifts = false;                                          // whether the clocks of its child are shifted
  OffsetsText offsets;
};

/// The first process's report: 0, an error number, or a negated error number from the time name space.
using Tried = std::int32_t;
constexpr char kGoOn = 'g';

long kernel(long call, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0) {
  return ::syscall(call, a, b, c, d);
}

std::uint64_t address(const void* what) { return reinterpret_cast<std::uint64_t>(what); }

/// Returns false if our maker has ended or given up.
bool told_to_go_on(int control) {
  char said = 0;
  long got = 0;
  do got = kernel(SYS_read, static_cast<std::uint64_t>(control), address(&said), 1);
  while (got < 0 && errno == EINTR);
  return got == 1 && said == kGoOn;
}

/// Uses only raw system calls: it is a copy of one thread of many.
[[noreturn]] void be_the_first(const FirstTask& task) {
  (void)kernel(SYS_close, static_cast<std::uint64_t>(task.others));
  const std::array<std::uint64_t, 4> usual{};  // handler, flags, restorer, mask: the default keeps zombies until they
                                               // are reaped
  (void)kernel(SYS_rt_sigaction, SIGCHLD, address(&usual), 0, 8);
  if (!told_to_go_on(task.control)) (void)kernel(SYS_exit_group, 1);
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = address(&task.number);
  arguments.set_tid_size = 1;
  const int no_time = task.shifts ? shift_children(task.offsets) : 0;
  const long made = no_time != 0 ? -1 : kernel(SYS_clone3, address(&arguments), sizeof arguments);
  if (made == 0) task.run(task.argument);
  const Tried tried = no_time != 0 ? -no_time : made < 0 ? errno : 0;
  (void)kernel(SYS_write, static_cast<std::uint64_t>(task.control), address(&tried), sizeof tried);
  if (made < 0 || !told_to_go_on(task.control)) (void)kernel(SYS_exit_group, 1);
  // Otherwise we would keep resources of our maker.
  (void)kernel(SYS_close_range, 0, ~0U, 0);
  for (const auto& [begin, end] : task.shared) (void)kernel(SYS_munmap, begin, end - begin);
  (void)kernel(SYS_prctl, PR_SET_NAME, address("perdure-space"));
  for (;;) {
    int status = 0;
    const long ended = kernel(SYS_wait4, ~0ULL, address(&status), __WALL, 0);
    if (ended == made)
      (void)kernel(SYS_exit_group,
                   static_cast<std::uint64_t>(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)));
    if (ended < 0 && errno != EINTR) (void)kernel(SYS_exit_group, 1);
  }
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_mappings() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  const auto maps = parse_maps(proc_text("/proc/self/maps"), "this process");
  if (!maps) return all;
  for (const MemoryMap& map : *maps)
    if (map.shared) all.emplace_back(map.begin, map.end);
  return all;
}

base::Error refused(int error) {
  const auto code = error == ENOSPC || error == EINVAL || error == EUSERS ? PERDURE_UNSUPPORTED : PERDURE_PERMISSION;
  return {code, "name space", "the system lets this user make none: " + std::string(::strerror(error)),
          "see user.max_user_namespaces, kernel.unprivileged_userns_clone and "
          "kernel.apparmor_restrict_unprivileged_userns (sysctl), or have CAP_CHECKPOINT_RESTORE "
          "(setcap cap_checkpoint_restore+ep, or root)",
          false};
}

bool write_text(const std::string& path, const std::string& text) {
  const os::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.get() >= 0 && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

long clone_first(std::uint64_t flags, const FirstTask& task) {
  clone_args arguments{};
  arguments.flags = flags;
  arguments.exit_signal = SIGCHLD;
  const long made = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (made == 0) be_the_first(task);
  return made;
}

}  // namespace

base::Result<NameSpace> NameSpace::make(pid_t number, void (*run)(void*), void* argument, const ClockImage& shift) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail(base::errno_error(errno, "socketpair", "name space"));
  os::Fd ours(ends[0]);
  const os::Fd its(ends[1]);
  const FirstTask task{its.get(),
                       ours.get(),
                       number,
                       run,
                       argument,
                       shared_mappings(),
                       shift != ClockImage(),
                       text_of_offsets(offsets_with(shift))};
  // A process that may make a process name space alone keeps its rights.
  bool of_users = false;
  long first = clone_first(CLONE_NEWPID, task);
  if (first < 0 && errno == EPERM) {
    of_users = true;
    first = clone_first(CLONE_NEWPID | CLONE_NEWUSER, task);
  }
  if (first < 0) return base::fail(refused(errno));
  NameSpace space(static_cast<pid_t>(first), of_users, std::move(ours));
  if (of_users) PERDURE_CHECK(space.map_user());
  Tried tried = EPIPE;
  const bool asked = ::send(space.control_.get(), &kGoOn, 1, MSG_NOSIGNAL) == 1;
  if (!asked || ::recv(space.control_.get(), &tried, sizeof tried, MSG_WAITALL) != sizeof tried)
    return base::fail(PERDURE_INTERNAL, "name space", "its first process has ended");
  if (tried == EEXIST)
    return base::fail(PERDURE_EXISTS, process_text(number), "its number is that of the first process of a name space");
  if (tried < 0) return base::fail(base::errno_error(-tried, "make a name space of time", process_text(number)));
  if (tried != 0) return base::fail(base::errno_error(tried, "make it", process_text(number)));
  const std::string own = "/proc/" + std::to_string(first);
  space.process_ = std::atoi(proc_text(own + "/task/" + std::to_string(first) + "/children").c_str());
  if (space.process_ <= 0)
    return base::fail(PERDURE_UNSUPPORTED, "name space", "the kernel does not say what children a process has");
  return space;
}

// Maps only the user's own numbers, because more needs privilege.
base::Status NameSpace::map_user() const {
  const std::string own = "/proc/" + std::to_string(first_) + "/";
  const auto only = [](std::uint32_t id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  (void)write_text(own + "setgroups", "deny");
  if (write_text(own + "uid_map", only(::geteuid())) && write_text(own + "gid_map", only(::getegid()))) return {};
  return base::fail(refused(errno));
}

NameSpace::NameSpace(NameSpace&& other) noexcept
    : first_(std::exchange(other.first_, 0)),
      process_(std::exchange(other.process_, 0)),
      of_users_(other.of_users_),
      control_(std::move(other.control_)) {}

NameSpace::~NameSpace() {
  if (first_ <= 0) return;
  control_.reset();  // which ends the first process
  while (::waitpid(first_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Status NameSpace::release() {
  if (::send(control_.get(), &kGoOn, 1, MSG_NOSIGNAL) != 1)
    return base::fail(PERDURE_INTERNAL, "name space", "its first process has ended");
  control_.reset();
  first_ = 0;
  return {};
}

}  // namespace perdure::process
