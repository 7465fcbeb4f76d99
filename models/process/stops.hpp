#pragma once
// Waits for traced threads to stop, and makes them carry out system calls. Tracee (an existing process) and NewProcess
// (one that is being made) use it. Only the tracing thread may call.
#include <sys/ptrace.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "process/proc_lists.hpp"
#include "process/registers.hpp"

namespace perdure::process {

template <class Address, class Data>
long trace(__ptrace_request request, pid_t thread, Address address, Data data) {
  return ::ptrace(request, thread, address, data);
}

/// "process 1234"
inline std::string process_text(pid_t process) { return "process " + std::to_string(process); }

/// For people: "its number is taken, by 'name'", for a process or thread.
std::string taken_text(pid_t number);

/// Lets this process and its copies be traced, even by their own maker. If this process has capabilities from its file
/// (setcap), the kernel forbids that until the process permits it. Others still may not trace it unless they have these
/// capabilities.
void let_children_be_traced();

/// Explains why a request to trace `thread` has just failed (errno).
base::Status trace_failed(pid_t thread, const std::string& what);

/// A stop of a thread.
struct Stop {
  int signal = 0;
  bool by_us = false;        ///< we requested it, or it is the stop of a stopped process
  bool at_call = false;      ///< at the entry or exit of a system call
  bool other_event = false;  ///< a kernel event that we did not request
};

/// Returns the next stop. Nothing: the thread has ended, or the time limit is over (WaitLimit). The exit status of a
/// child of ours can still be collected.
std::optional<Stop> wait_for_stop(pid_t thread);

/// Explains why wait_for_stop() returned nothing: the thread has ended, or (PERDURE_BUSY) the time limit was over.
base::Error no_stop(pid_t thread);

/// Waits for the end of a child of ours that is ending. Does nothing for other threads.
void reap(pid_t thread);

base::Result<Registers> get_registers(pid_t thread);
base::Status set_registers(pid_t thread, Registers registers);
base::Result<std::vector<std::byte>> get_extended_registers(pid_t thread);
base::Status set_extended_registers(pid_t thread, base::ConstByteSpan bytes);
/// Returns the blocked signals: bit n - 1 for signal n.
base::Result<std::uint64_t> get_blocked_signals(pid_t thread);
base::Status set_blocked_signals(pid_t thread, std::uint64_t blocked);

/// Makes `call` with the instruction at `instruction` and `registers` otherwise. Returns its result; a negative result
/// is an error number. The caller must block signals before, and set the thread's registers afterwards.
base::Result<std::int64_t> carry_out(pid_t thread, const Registers& registers, std::uint64_t instruction,
                                     const SystemCall& call);

/// Returns the address of a system call instruction in its vdso, which every process has and nobody changes. `thread`
/// must live: the memory of an ended leader cannot be read.
base::Result<std::uint64_t> find_call_instruction_of(pid_t thread);

}  // namespace perdure::process
