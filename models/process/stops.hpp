#pragma once
// Threads that this one traces: how they are waited for, and made to carry out a system call. What Tracee (a process
// that was there) and NewProcess (one in the making) have in common. All calls by the thread that traces.
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

/// For people: "its number is taken, by 'name'", of a process or thread.
std::string taken_text(pid_t number);

/// This process may have got capabilities from its file (setcap): the kernel lets nobody trace such a one, nor what is
/// a copy of it, its own maker included, before it says otherwise. Nobody else who lacks these capabilities may, even
/// so.
void let_children_be_traced();

/// Why a request to trace `thread` has just failed (errno).
base::Status trace_failed(pid_t thread, const std::string& what);

/// One stop of a thread.
struct Stop {
  int signal = 0;
  bool by_us = false;        ///< asked for, or that of a stopped process
  bool at_call = false;      ///< before or behind a system call
  bool other_event = false;  ///< of the kernel's events that nobody asked for
};

/// Its next stop. Nothing: it has ended; where this process made it, how is left to be asked for. Or the time for it is
/// over (WaitLimit).
std::optional<Stop> wait_for_stop(pid_t thread);

/// Why wait_for_stop() had nothing: it has ended, or, PERDURE_BUSY, the time for it was over.
base::Error no_stop(pid_t thread);

/// Waits until it has ended, of one that is about to; of one that is none of ours it does nothing.
void reap(pid_t thread);

base::Result<Registers> get_registers(pid_t thread);
base::Status set_registers(pid_t thread, Registers registers);
base::Result<std::vector<std::byte>> get_extended_registers(pid_t thread);
base::Status set_extended_registers(pid_t thread, base::ConstByteSpan bytes);
/// Signals that it blocks, bit n - 1 for signal n.
base::Result<std::uint64_t> get_blocked_signals(pid_t thread);
base::Status set_blocked_signals(pid_t thread, std::uint64_t blocked);

/// `call` by the instruction at `instruction`, with `registers` otherwise; what it came to, below 0 an error number.
/// The thread is left behind it: its registers are the caller's to set. Signals are to be blocked.
base::Result<std::int64_t> carry_out(pid_t thread, const Registers& registers, std::uint64_t instruction,
                                     const SystemCall& call);

/// Where in its vdso, which every process has and nobody changes, an instruction for system calls is. By a thread that
/// lives: a leader that has ended shows no memory.
base::Result<std::uint64_t> find_call_instruction_of(pid_t thread);

}  // namespace perdure::process
