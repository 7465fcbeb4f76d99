#include "process/seized_thread.hpp"

#include "process/remote_memory.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

/// The layout of PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG (6.4 and later).
struct CallDispatch {
  std::uint64_t mode = 0, selector = 0, offset = 0, length = 0;
};

/// The kernel's layout (linux/rseq.h).
struct RestartableSequence {
  std::uint32_t version = 0, flags = 0;
  std::uint64_t begin = 0, length = 0, abort = 0;
};

base::Status takes_calls(pid_t thread) {
  constexpr int kGetDispatch = 0x4211;
  CallDispatch dispatch;
  const long known = trace(static_cast<__ptrace_request>(kGetDispatch), thread, sizeof dispatch, &dispatch);
  if (known < 0 || dispatch.mode == 0) return {};
  return base::fail(PERDURE_UNSUPPORTED, "thread " + std::to_string(thread),
                    "it has its system calls sent to itself (PR_SET_SYSCALL_USER_DISPATCH), as Wine does",
                    "start it without");
}

/// Returns the address where it continues instead; 0 if it is in no sequence.
std::uint64_t abort_of_sequence(pid_t thread, std::uint64_t at) {
  constexpr std::uint64_t kCurrentSequence = 8;  // offset in the area
  __ptrace_rseq_configuration area{};
  if (trace(static_cast<__ptrace_request>(PTRACE_GET_RSEQ_CONFIGURATION), thread, sizeof area, &area) < 0 ||
      area.rseq_abi_pointer == 0)
    return 0;
  const auto current = read_value<std::uint64_t>(thread, area.rseq_abi_pointer + kCurrentSequence);
  if (!current || *current == 0) return 0;
  const auto sequence = read_value<RestartableSequence>(thread, *current);
  return sequence && at - sequence->begin < sequence->length ? sequence->abort : 0;
}

}  // namespace

base::Result<Registers> registers_to_go_on(pid_t thread) {
  PERDURE_CHECK(takes_calls(thread));
  PERDURE_TRY(const Registers registers, get_registers(thread));
  const std::uint64_t abort = abort_of_sequence(thread, next_instruction(registers));
  return abort == 0 ? registers : with_next_instruction(registers, abort);
}

}  // namespace perdure::process
