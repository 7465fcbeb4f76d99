#include "process/tracee.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/seized_thread.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

// Signals sent before our stop are delivered normally. Their handlers, if any, have not begun when the thread stops.
std::optional<Stop> wait_for_ours(pid_t thread) {
  for (;;) {
    const auto stop = wait_for_stop(thread);
    if (!stop || stop->by_us) return stop;
    // If this fails, the thread was killed, and its end comes next.
    (void)trace(PTRACE_CONT, thread, 0, stop->at_call || stop->other_event ? 0 : stop->signal);
  }
}

pid_t tracer_of(pid_t thread) {
  const std::string text = proc_text("/proc/" + std::to_string(thread) + "/status");
  return static_cast<pid_t>(first_number(text, "TracerPid"));
}

base::Error cannot_seize(pid_t process, int error) {
  const pid_t tracer = tracer_of(process);
  if (tracer != 0)
    return {PERDURE_BUSY, process_text(process), "process " + std::to_string(tracer) + " traces it",
            "end that one: a debugger, strace, or another capture", true};
  if (error == ESRCH) return {PERDURE_NOT_FOUND, process_text(process), "it has ended", "", false};
  const std::string scope = proc_text("/proc/sys/kernel/yama/ptrace_scope");
  const bool children_only = !scope.empty() && scope[0] != '0';
  return {PERDURE_PERMISSION, process_text(process), std::string("it may not be traced: ") + std::strerror(error),
          children_only ? "kernel.yama.ptrace_scope is " + scope.substr(0, 1) +
                              ": start it by this program, or have CAP_SYS_PTRACE, or set that to 0"
                        : "be the same user, or have CAP_SYS_PTRACE",
          false};
}

}  // namespace

base::Result<Tracee> Tracee::seize(pid_t process) {
  if (process <= 0 || process == ::getpid())
    return base::fail(PERDURE_INVALID_ARGUMENT, process_text(process), "a process cannot trace itself");
  Tracee tracee(process);
  for (bool any = true; any;) PERDURE_CHECK(tracee.seize_new_threads(any));
  if (tracee.threads_.empty()) return base::fail(PERDURE_NOT_FOUND, process_text(process), "it has ended");
  PERDURE_CHECK(tracee.is_the_same());
  return tracee;
}

// A thread that starts another program takes over the number of the first thread, which was held. The known state of
// the first thread is then wrong.
base::Status Tracee::is_the_same() const {
  for (const auto& [thread, state] : threads_) {
    const auto now = get_registers(thread);
    if (!now) return base::fail(PERDURE_NOT_FOUND, process_text(process_), "it ended, or began another program (exec)");
    const Registers same = with_next_instruction(*now, next_instruction(state.registers));
    if (std::memcmp(&same, &state.registers, sizeof same) != 0)
      return base::fail(PERDURE_BUSY, process_text(process_), "it began another program meanwhile (exec)", "try again",
                        true);
  }
  return {};
}

// A thread that still runs may make others, so this repeats until it finds none.
base::Status Tracee::seize_new_threads(bool& any) {
  any = false;
  const auto listed = threads_of(process_);
  if (listed.empty())
    return base::fail(PERDURE_NOT_FOUND, process_text(process_), "there is no such process, or it has ended");
  for (const pid_t thread : listed) {
    if (threads_.contains(thread) || has_ended(thread)) continue;
    if (trace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD) < 0) {
      const int error = errno;
      if (error == ESRCH || has_ended(thread)) continue;
      return base::fail(cannot_seize(process_, error));
    }
    any = true;
    if (trace(PTRACE_INTERRUPT, thread, 0, 0) < 0) continue;  // it ended meanwhile
    const auto stop = wait_for_ours(thread);
    if (!stop) {
      if (has_ended(thread)) continue;
      return base::fail(no_stop(thread));
    }
    stopped_ = stopped_ || stop->signal != SIGTRAP;
    Thread& state = threads_[thread];
    PERDURE_TRY(state.registers, registers_to_go_on(thread));
  }
  return {};
}

Tracee::Tracee(Tracee&& other) noexcept
    : process_(other.process_),
      threads_(std::exchange(other.threads_, {})),
      call_instruction_(other.call_instruction_),
      stopped_(other.stopped_) {}

Tracee& Tracee::operator=(Tracee&& other) noexcept {
  if (this != &other) {
    (void)release();
    process_ = other.process_;
    threads_ = std::exchange(other.threads_, {});
    call_instruction_ = other.call_instruction_;
    stopped_ = other.stopped_;
  }
  return *this;
}

Tracee::~Tracee() { (void)release(); }

std::vector<pid_t> Tracee::threads() const {
  std::vector<pid_t> all;
  if (threads_.contains(process_)) all.push_back(process_);
  for (const auto& [thread, state] : threads_)
    if (thread != process_) all.push_back(thread);
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
  return get_extended_registers(thread);
}

base::Result<std::uint64_t> Tracee::blocked_signals(pid_t thread) const {
  PERDURE_CHECK(known(thread));
  return get_blocked_signals(thread);
}

base::Result<std::int64_t> Tracee::ask(pid_t thread, const SystemCall& call) {
  PERDURE_CHECK(known(thread));
  Thread& state = threads_.at(thread);
  if (call_instruction_ == 0) {
    PERDURE_TRY(call_instruction_, find_call_instruction_of(thread));
  }
  PERDURE_TRY(const std::uint64_t blocked, blocked_signals(thread));
  PERDURE_CHECK(set_blocked_signals(thread, ~std::uint64_t{0}));
  state.asked = true;
  auto answer = carry_out(thread, state.registers, call_instruction_, call);
  PERDURE_CHECK(set_registers(thread, state.registers));
  PERDURE_CHECK(set_blocked_signals(thread, blocked));
  return answer;
}

// After a call made for us, the kernel would not restart the interrupted call. So the thread is stopped again, where
// the kernel does.
base::Status Tracee::go_on(pid_t thread, Thread& state) {
  // The thread was killed. Nobody else can collect its end before this thread does.
  const auto gone = [&](const char* what) -> base::Status {
    auto failed = trace_failed(thread, what);
    // Or the number now belongs to another, running thread: ours, or nobody's.
    if (trace(PTRACE_INTERRUPT, thread, 0, 0) < 0) return failed;
    while (const auto stop = wait_for_stop(thread)) {
      const bool sent = !stop->by_us && !stop->at_call && !stop->other_event;
      if (trace(PTRACE_DETACH, thread, 0, sent ? stop->signal : 0) == 0) break;
    }
    return failed;
  };
  if (state.asked) {
    if (trace(PTRACE_INTERRUPT, thread, 0, 0) < 0 || trace(PTRACE_CONT, thread, 0, 0) < 0)
      return gone("it cannot be made to go on");
    if (!wait_for_ours(thread)) return base::fail(no_stop(thread));
    state.asked = false;
  }
  if (trace(PTRACE_DETACH, thread, 0, 0) == 0) return {};
  return gone("it cannot be released");
}

base::Status Tracee::release() {
  base::Status all;
  const auto let_go = [&](pid_t thread, Thread& state) {
    auto released = go_on(thread, state);
    if (!released && all) all = std::move(released);
  };
  for (auto& [thread, state] : threads_)
    if (thread != process_) let_go(thread, state);
  // The first thread ends only after all others.
  if (const auto first = threads_.find(process_); first != threads_.end()) let_go(process_, first->second);
  threads_.clear();
  return all;
}

}  // namespace perdure::process
