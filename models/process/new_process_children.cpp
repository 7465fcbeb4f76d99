// Makes a process of a tree: its parent, which is also new, makes it.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "process/new_process.hpp"

namespace perdure::process {

base::Result<NewProcess> NewProcess::begin_child(NewProcess& parent, const ProcessImage& image,
                                                 const SystemCall& call) {
  const auto made = parent.ask(call, "make child " + std::to_string(image.number) + " of");
  if (!made && made.error().code == PERDURE_EXISTS) return base::fail(cannot_begin(image, EEXIST));
  PERDURE_CHECK(made);
  NewProcess child(image, static_cast<pid_t>(*made));
  if (*made != image.number || !wait_for_stop(image.number))
    return base::fail(PERDURE_INTERNAL, process_text(image.number), "it did not begin");
  child.registers_ = parent.registers_;
  child.instruction_ = parent.instruction_;
  return child;
}

base::Status NewProcess::perform(const Operations& operations) {
  for (const Operation& one : operations.list()) {
    PERDURE_TRY(const auto answer, carry_out(process_, registers_, instruction_, one.call));
    if (one.may_fail || answer >= one.least) continue;
    if (answer < 0) return base::fail(base::errno_error(static_cast<int>(-answer), one.what, process_text(process_)));
    return base::fail(PERDURE_INTERNAL, process_text(process_), one.what + ": its answer is not the right one");
  }
  return {};
}

// First its maker collects its end, then its parent can. An ending process may be gone before it is told to continue.
base::Status NewProcess::end_with(std::int32_t status, std::uint64_t memory) {
  const int signal = status & 0x7f;
  PERDURE_CHECK(ask({SYS_prctl, PR_SET_NAME, memory}, "set the name of"));
  if (signal == 0) {
    const auto code = static_cast<std::uint64_t>(status >> 8 & 0xff);
    PERDURE_CHECK(set_registers(process_, asking(registers_, instruction_, {SYS_exit_group, code})));
  } else {
    const rlimit nothing{0, 0};
    if (::prlimit(process_, RLIMIT_CORE, &nothing, nullptr) != 0) return trace_failed(process_, "it may dump memory");
    if (signal != SIGKILL)
      PERDURE_CHECK(ask({SYS_rt_sigaction, static_cast<std::uint64_t>(signal), memory + kNameOfEnded, 0, 8},
                        "set what a signal does to"));
    PERDURE_CHECK(set_blocked_signals(process_, ~(std::uint64_t{1} << (signal - 1))));
    if (::kill(process_, signal) != 0) return trace_failed(process_, "it cannot be ended");
  }
  (void)trace(PTRACE_CONT, process_, 0, 0);
  while (const auto stop = wait_for_stop(process_)) {
    const bool is_that = signal != 0 && stop->signal == signal && !stop->by_us && !stop->other_event;
    (void)trace(PTRACE_CONT, process_, 0, is_that ? signal : 0);
  }
  process_ = 0;
  return {};
}

}  // namespace perdure::process
