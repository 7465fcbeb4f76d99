#include "process/tracee.hpp"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kSignalSetBytes = 8;

std::string object_of(pid_t process) { return "process " + std::to_string(process); }

template <class Address, class Data>
long trace(__ptrace_request request, pid_t thread, Address address, Data data) {
  return ::ptrace(request, thread, address, data);
}

base::Status failed(pid_t thread, const std::string& what) {
  const int error = errno;
  const auto code = error == ESRCH ? PERDURE_NOT_FOUND : error == EPERM ? PERDURE_PERMISSION : PERDURE_INTERNAL;
  return base::fail(code, "thread " + std::to_string(thread), what + ": " + std::strerror(error));
}

/// One stop of a thread.
struct Stop {
  int signal = 0;
  bool by_us = false;        ///< asked for, or that of a stopped process
  bool at_call = false;      ///< before or behind a system call
  bool other_event = false;  ///< of the kernel's events that nobody asked for
};

/// The tracer is told of the end of each thread, and who made the process of the process's: if that is this one, how it
/// ended is left to be asked for.
bool end_is_ours(pid_t thread) {
  const std::string text = proc_text("/proc/" + std::to_string(thread) + "/status");
  const auto number = [&](const char* key) {
    const auto at = text.find(key);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + std::strlen(key));
  };
  return number("\nTgid:") != number("\nPid:") || number("\nPPid:") != ::getpid();
}

/// Nothing: it has ended.
std::optional<Stop> wait_for(pid_t thread) {
  for (;;) {
    siginfo_t seen{};
    if (::waitid(P_PID, static_cast<id_t>(thread), &seen, WSTOPPED | WEXITED | WNOWAIT | __WALL) < 0) {
      if (errno == EINTR) continue;
      return std::nullopt;
    }
    const bool ended = seen.si_code == CLD_EXITED || seen.si_code == CLD_KILLED || seen.si_code == CLD_DUMPED;
    if (ended && !end_is_ours(thread)) return std::nullopt;
    int status = 0;
    if (::waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return std::nullopt;
    const int event = status >> 16;
    Stop stop;
    stop.signal = WSTOPSIG(status);
    stop.by_us = event == PTRACE_EVENT_STOP;
    stop.at_call = event == 0 && stop.signal == (SIGTRAP | 0x80);
    stop.other_event = event != 0 && !stop.by_us;
    return stop;
  }
}

// It was sent a signal before it came to the stop: that is delivered as it would have been, and the handler, if there
// is one, has not begun when the thread stops.
std::optional<Stop> wait_for_ours(pid_t thread) {
  for (;;) {
    const auto stop = wait_for(thread);
    if (!stop || stop->by_us) return stop;
    if (trace(PTRACE_CONT, thread, 0, stop->at_call || stop->other_event ? 0 : stop->signal) < 0) return std::nullopt;
  }
}

/// The state letter of /proc/PID/task/TID/stat: behind the name, which may have anything in it.
char state_of(pid_t process, pid_t thread) {
  const std::string text = proc_text("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  const auto end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? 'X' : text[end + 2];
}

bool has_ended(pid_t process, pid_t thread) {
  const char state = state_of(process, thread);
  return state == 'Z' || state == 'X' || state == 'x';
}

pid_t tracer_of(pid_t thread) {
  const std::string text = proc_text("/proc/" + std::to_string(thread) + "/status");
  const auto at = text.find("TracerPid:");
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::atoi(text.c_str() + at + 10));
}

base::Result<std::vector<pid_t>> list_threads(pid_t process) {
  std::error_code error;
  std::vector<pid_t> threads;
  const std::string path = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    threads.push_back(static_cast<pid_t>(std::atoi(at->path().filename().c_str())));
  if (error || threads.empty())
    return base::fail(PERDURE_NOT_FOUND, object_of(process), "there is no such process, or it has ended");
  return threads;
}

base::Error cannot_seize(pid_t process, int error) {
  const pid_t tracer = tracer_of(process);
  if (tracer != 0)
    return {PERDURE_BUSY, object_of(process), "process " + std::to_string(tracer) + " traces it",
            "end that one: a debugger, strace, or another capture", true};
  if (error == ESRCH) return {PERDURE_NOT_FOUND, object_of(process), "it has ended", "", false};
  const std::string scope = proc_text("/proc/sys/kernel/yama/ptrace_scope");
  const bool children_only = !scope.empty() && scope[0] != '0';
  return {PERDURE_PERMISSION, object_of(process), std::string("it may not be traced: ") + std::strerror(error),
          children_only ? "kernel.yama.ptrace_scope is " + scope.substr(0, 1) +
                              ": start it by this program, or have CAP_SYS_PTRACE, or set that to 0"
                        : "be the same user, or have CAP_SYS_PTRACE",
          false};
}

}  // namespace

base::Result<Tracee> Tracee::seize(pid_t process) {
  if (process <= 0 || process == ::getpid())
    return base::fail(PERDURE_INVALID_ARGUMENT, object_of(process), "a process cannot trace itself");
  Tracee tracee(process);
  for (bool any = true; any;) PERDURE_CHECK(tracee.seize_new_threads(any));
  if (tracee.threads_.empty()) return base::fail(PERDURE_NOT_FOUND, object_of(process), "it has ended");
  return tracee;
}

// A thread that still runs may make others: until there is none that is new.
base::Status Tracee::seize_new_threads(bool& any) {
  any = false;
  PERDURE_TRY(const auto listed, list_threads(process_));
  for (const pid_t thread : listed) {
    if (threads_.contains(thread) || has_ended(process_, thread)) continue;
    if (trace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD) < 0) {
      const int error = errno;
      if (error == ESRCH || has_ended(process_, thread)) continue;
      return base::fail(cannot_seize(process_, error));
    }
    any = true;
    if (trace(PTRACE_INTERRUPT, thread, 0, 0) < 0 || !wait_for_ours(thread)) continue;  // it ended meanwhile
    Thread& state = threads_[thread];
    iovec where{&state.registers, sizeof state.registers};
    if (trace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &where) < 0) return failed(thread, "its registers cannot be read");
    if (where.iov_len != sizeof state.registers)
      return base::fail(PERDURE_UNSUPPORTED, object_of(process_), "it is a program of 32 bits");
  }
  return {};
}

Tracee::Tracee(Tracee&& other) noexcept
    : process_(other.process_),
      threads_(std::exchange(other.threads_, {})),
      call_instruction_(other.call_instruction_) {}

Tracee& Tracee::operator=(Tracee&& other) noexcept {
  if (this != &other) {
    (void)release();
    process_ = other.process_;
    threads_ = std::exchange(other.threads_, {});
    call_instruction_ = other.call_instruction_;
  }
  return *this;
}

Tracee::~Tracee() { (void)release(); }

std::vector<pid_t> Tracee::threads() const {
  std::vector<pid_t> all;
  for (const auto& [thread, state] : threads_) all.push_back(thread);
  return all;
}

base::Result<const Tracee::Thread*> Tracee::known(pid_t thread) const {
  const auto found = threads_.find(thread);
  if (found != threads_.end()) return &found->second;
  return base::fail(PERDURE_NOT_FOUND, "thread " + std::to_string(thread), "it is not held");
}

base::Result<Registers> Tracee::registers(pid_t thread) const {
  PERDURE_TRY(const auto* state, known(thread));
  return state->registers;
}

base::Result<std::vector<std::byte>> Tracee::extended_registers(pid_t thread) const {
  PERDURE_CHECK(known(thread));
  std::vector<std::byte> bytes(16 * base::KiB);  // with the tiles of AMX it is 11 KiB
  iovec where{bytes.data(), bytes.size()};
  if (trace(PTRACE_GETREGSET, thread, extended_register_set(), &where) < 0)
    PERDURE_CHECK(failed(thread, "its extended registers cannot be read"));
  bytes.resize(where.iov_len);
  return bytes;
}

base::Result<std::uint64_t> Tracee::blocked_signals(pid_t thread) const {
  PERDURE_CHECK(known(thread));
  std::uint64_t blocked = 0;
  if (trace(PTRACE_GETSIGMASK, thread, kSignalSetBytes, &blocked) < 0)
    PERDURE_CHECK(failed(thread, "its signal mask cannot be read"));
  return blocked;
}

namespace {

/// In the vdso, which every process has and nobody changes. By a thread that lives: a leader that has ended shows no
/// memory.
base::Result<std::uint64_t> find_call_instruction_of(pid_t thread) {
  PERDURE_TRY(const auto maps,
              parse_maps(proc_text("/proc/" + std::to_string(thread) + "/maps"), "thread " + std::to_string(thread)));
  for (const auto& map : maps) {
    if (map.name != "[vdso]" || !map.executable) continue;
    std::vector<std::byte> code(map.bytes());
    iovec to{code.data(), code.size()},
        from{reinterpret_cast<void*>(map.begin), code.size()};  // NOLINT: an address there
    if (::process_vm_readv(thread, &to, 1, &from, 1, 0) != static_cast<ssize_t>(code.size())) continue;
    if (const auto at = find_call_instruction(code); at < code.size()) return map.begin + at;
  }
  return base::fail(PERDURE_UNSUPPORTED, "thread " + std::to_string(thread),
                    "its vdso has no instruction for system calls");
}

base::Status set_registers(pid_t thread, Registers registers) {
  iovec from{&registers, sizeof registers};
  if (trace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &from) == 0) return {};
  return failed(thread, "its registers cannot be set");
}

base::Status set_blocked_signals(pid_t thread, std::uint64_t blocked) {
  if (trace(PTRACE_SETSIGMASK, thread, kSignalSetBytes, &blocked) == 0) return {};
  return failed(thread, "its signal mask cannot be set");
}

/// To the next stop at a call: where it begins one, or where it has ended. A SIGSTOP that comes meanwhile is the
/// process's own: it stands still behind the release.
base::Status run_to_call(pid_t thread) {
  for (int deliver = 0;;) {
    if (trace(PTRACE_SYSCALL, thread, 0, deliver) < 0) return failed(thread, "it cannot be made to go on");
    const auto stop = wait_for(thread);
    if (!stop) return base::fail(PERDURE_NOT_FOUND, "thread " + std::to_string(thread), "it has ended");
    if (stop->at_call) return {};
    deliver = stop->by_us || stop->other_event ? 0 : stop->signal;
  }
}

}  // namespace

base::Result<std::int64_t> Tracee::ask(pid_t thread, const SystemCall& call) {
  PERDURE_CHECK(known(thread));
  Thread& state = threads_.at(thread);
  if (call_instruction_ == 0) {
    PERDURE_TRY(call_instruction_, find_call_instruction_of(thread));
  }
  PERDURE_TRY(const std::uint64_t blocked, blocked_signals(thread));
  PERDURE_CHECK(set_blocked_signals(thread, ~std::uint64_t{0}));
  state.asked = true;
  Registers after{};
  const auto asked = [&]() -> base::Status {
    PERDURE_CHECK(set_registers(thread, asking(state.registers, call_instruction_, call)));
    PERDURE_CHECK(run_to_call(thread));
    PERDURE_CHECK(run_to_call(thread));
    iovec where{&after, sizeof after};
    if (trace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &where) < 0) return failed(thread, "no answer can be read");
    return {};
  }();
  PERDURE_CHECK(set_registers(thread, state.registers));
  PERDURE_CHECK(set_blocked_signals(thread, blocked));
  if (!asked) return base::fail(asked.error());
  return answer_of(after);
}

// Behind a call that it was asked for, the kernel would not begin the interrupted one again: it is stopped once more,
// where the kernel does.
base::Status Tracee::go_on(pid_t thread, Thread& state) {
  if (state.asked) {
    if (trace(PTRACE_INTERRUPT, thread, 0, 0) < 0 || trace(PTRACE_CONT, thread, 0, 0) < 0)
      return failed(thread, "it cannot be made to go on");
    if (!wait_for_ours(thread))
      return base::fail(PERDURE_NOT_FOUND, "thread " + std::to_string(thread), "it has ended");
    state.asked = false;
  }
  if (trace(PTRACE_DETACH, thread, 0, 0) == 0) return {};
  auto gone = failed(thread, "it cannot be released");
  (void)wait_for(thread);  // it was killed, and nobody else is told of its end before this one was
  return gone;
}

base::Status Tracee::release() {
  base::Status all;
  const auto let_go = [&](pid_t thread, Thread& state) {
    auto released = go_on(thread, state);
    if (!released && all) all = std::move(released);
  };
  for (auto& [thread, state] : threads_)
    if (thread != process_) let_go(thread, state);
  // It ends when all others have.
  if (const auto first = threads_.find(process_); first != threads_.end()) let_go(process_, first->second);
  threads_.clear();
  return all;
}

}  // namespace perdure::process
