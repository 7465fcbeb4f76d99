#include "process/stops.hpp"

#include <elf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "os/system.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"
#include "process/wait_limit.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kSignalSetBytes = 8;

/// Returns whether this tracer must reap the thread. The exit status of the main thread of our own child is left to be
/// collected later.
bool end_is_ours(pid_t thread) {
  const std::string text = proc_text("/proc/" + std::to_string(thread) + "/status");
  return first_number(text, "Tgid") != first_number(text, "Pid") ||
         first_number(text, "PPid") != static_cast<std::uint64_t>(::getpid());
}

/// Stops the thread after the time limit, because its registers must be set back.
base::Error stopped_at_last(pid_t thread) {
  auto why = no_stop(thread);
  if (trace(PTRACE_INTERRUPT, thread, 0, 0) == 0) (void)wait_for_stop(thread);
  return why;
}

/// Runs to the next entry or exit of a system call. A SIGSTOP that arrives meanwhile is for the process itself; it
/// takes effect after the release.
base::Status run_to_call(pid_t thread) {
  for (int deliver = 0;;) {
    if (trace(PTRACE_SYSCALL, thread, 0, deliver) < 0) return trace_failed(thread, "it cannot be made to go on");
    const auto stop = wait_for_stop(thread);
    if (!stop) return base::fail(stopped_at_last(thread));
    if (stop->at_call) return {};
    deliver = stop->by_us || stop->other_event ? 0 : stop->signal;
  }
}

}  // namespace

std::string taken_text(pid_t number) {
  const std::string directory = "/proc/" + std::to_string(number);
  std::string who = proc_text(directory + "/comm");
  if (who.empty()) return "its number is taken";
  who.pop_back();
  const auto process = first_number(proc_text(directory + "/status"), "Tgid");
  constexpr char kEnded = 'Z';
  if (state_of(number) == kEnded) {
    const auto parent = static_cast<pid_t>(first_number(proc_text(directory + "/status"), "PPid"));
    return "its number is taken, by '" + who + "', which has ended and which its parent, process " +
           std::to_string(parent) + ", has not waited for (a zombie)";
  }
  const bool is_thread = process != 0 && process != static_cast<std::uint64_t>(number);
  return "its number is taken, by '" + who + "'" +
         (is_thread ? ", a thread of process " + std::to_string(process) : "");
}

void let_children_be_traced() {
  if (::getuid() == ::geteuid() && ::getgid() == ::getegid()) (void)::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

base::Status trace_failed(pid_t thread, const std::string& what) {
  const int error = errno;
  const auto code = error == ESRCH ? PERDURE_NOT_FOUND : error == EPERM ? PERDURE_PERMISSION : PERDURE_INTERNAL;
  return base::fail(code, "thread " + std::to_string(thread), what + ": " + std::strerror(error));
}

base::Error no_stop(pid_t thread) {
  const std::string object = "thread " + std::to_string(thread);
  const char state = state_of(thread);
  if (has_ended(thread)) return {PERDURE_NOT_FOUND, object, "it has ended", "", false};
  return {PERDURE_BUSY, object,
          std::string("it does not come to a stop, its state is ") + state +
              (state == 'D' ? ": it waits for a device, for a file system, or in vfork" : ""),
          "try again later; a frozen control group has to be thawed", true};
}

std::optional<Stop> wait_for_stop(pid_t thread) {
  const std::uint64_t begun = os::monotonic_ns();
  for (;;) {
    siginfo_t seen{};
    if (::waitid(P_PID, static_cast<id_t>(thread), &seen, WSTOPPED | WEXITED | WNOWAIT | __WALL) < 0) {
      if (errno == EINTR && !WaitLimit::is_over(begun)) continue;
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

void reap(pid_t thread) {
  for (;;) {
    int status = 0;
    const pid_t told = ::waitpid(thread, &status, __WALL);
    if (told < 0 && errno == EINTR) continue;
    if (told != thread || WIFEXITED(status) || WIFSIGNALED(status)) return;
  }
}

base::Result<Registers> get_registers(pid_t thread) {
  Registers registers{};
  iovec where{&registers, sizeof registers};
  if (trace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &where) < 0)
    PERDURE_CHECK(trace_failed(thread, "its registers cannot be read"));
  if (where.iov_len != sizeof registers)
    return base::fail(PERDURE_UNSUPPORTED, "thread " + std::to_string(thread), "it is of a program of 32 bits");
  return registers;
}

base::Status set_registers(pid_t thread, Registers registers) {
  iovec from{&registers, sizeof registers};
  if (trace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &from) == 0) return {};
  return trace_failed(thread, "its registers cannot be set");
}

base::Result<std::vector<std::byte>> get_extended_registers(pid_t thread) {
  std::vector<std::byte> all;
  for (const auto& set : extended_register_sets()) {
    std::vector<std::byte> bytes(16 * base::KiB);  // with AMX tiles it is 11 KiB
    iovec where{bytes.data(), bytes.size()};
    if (trace(PTRACE_GETREGSET, thread, set.number, &where) < 0) {
      if (set.may_lack && (errno == EINVAL || errno == ENODEV)) continue;
      PERDURE_CHECK(trace_failed(thread, "its extended registers cannot be read"));
    }
    bytes.resize(where.iov_len);
    add_register_set(all, extended_register_sets(), set.number, bytes);
  }
  return all;
}

base::Status set_extended_registers(pid_t thread, base::ConstByteSpan bytes) {
  base::Status outcome;
  const bool whole = each_register_set(bytes, extended_register_sets(), [&](int set, base::ConstByteSpan values) {
    iovec from{const_cast<std::byte*>(values.data()), values.size()};  // NOLINT: what is here is only read
    if (outcome && trace(PTRACE_SETREGSET, thread, set, &from) < 0)
      outcome = trace_failed(thread, "its extended registers cannot be set");
  });
  if (whole) return outcome;
  return base::fail(PERDURE_CORRUPT, "thread " + std::to_string(thread), "its extended registers are none");
}

base::Result<std::uint64_t> get_blocked_signals(pid_t thread) {
  std::uint64_t blocked = 0;
  if (trace(PTRACE_GETSIGMASK, thread, kSignalSetBytes, &blocked) < 0)
    PERDURE_CHECK(trace_failed(thread, "its signal mask cannot be read"));
  return blocked;
}

base::Status set_blocked_signals(pid_t thread, std::uint64_t blocked) {
  if (trace(PTRACE_SETSIGMASK, thread, kSignalSetBytes, &blocked) == 0) return {};
  return trace_failed(thread, "its signal mask cannot be set");
}

base::Result<std::int64_t> carry_out(pid_t thread, const Registers& registers, std::uint64_t instruction,
                                     const SystemCall& call) {
  PERDURE_CHECK(set_registers(thread, asking(registers, instruction, call)));
  PERDURE_CHECK(run_to_call(thread));
  PERDURE_CHECK(run_to_call(thread));
  PERDURE_TRY(const Registers after, get_registers(thread));
  return answer_of(after);
}

base::Result<std::uint64_t> find_call_instruction_of(pid_t thread) {
  PERDURE_TRY(const auto maps, read_maps(thread));
  for (const auto& map : maps) {
    if (map.name != "[vdso]" || !map.executable) continue;
    std::vector<std::byte> code(map.bytes());
    if (!read_memory(thread, map.begin, code)) continue;
    if (const auto at = find_call_instruction(code); at < code.size()) return map.begin + at;
  }
  return base::fail(PERDURE_UNSUPPORTED, "thread " + std::to_string(thread),
                    "its vdso has no instruction for system calls");
}

}  // namespace perdure::process
