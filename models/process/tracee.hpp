#pragma once
// Holds all threads of a process still. Calls that they make for us leave no traces. (docs/adr/0040)
#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// The thread that seized it makes all calls: the kernel knows it as the tracer.
class Tracee {
 public:
  /// Returns when all threads of the process stand still, including new ones. On failure no thread was changed, and all
  /// continue.
  /// PERDURE_NOT_FOUND: there is no such process.
  /// PERDURE_PERMISSION: it is another user's, or the system lets processes trace only their children.
  /// PERDURE_BUSY: another process traces it, or it became another program meanwhile. Or a thread did not stop in time
  /// (WaitLimit); the system releases it when this thread ends.
  static base::Result<Tracee> seize(pid_t process);
  Tracee(Tracee&&) noexcept;
  Tracee& operator=(Tracee&&) noexcept;
  /// Releases the process if it is still held.
  ~Tracee();

  pid_t process() const { return process_; }
  /// Returns the main thread, then the others in ascending order; numbers wrap around. Ended threads that others still
  /// wait for are left out.
  std::vector<pid_t> threads() const;
  /// It was stopped by a signal (SIGSTOP, or from a terminal), and stays so after the release.
  bool is_stopped() const { return stopped_; }
  /// The registers that it also has after the release.
  base::Result<Registers> registers(pid_t thread) const;
  /// Floating point and vector registers in the processor's layout (on x86-64 that of XSAVE).
  base::Result<std::vector<std::byte>> extended_registers(pid_t thread) const;
  /// Blocked signals: bit n - 1 for signal n.
  base::Result<std::uint64_t> blocked_signals(pid_t thread) const;
  /// Makes the thread carry out `call`. Afterwards the thread is as before, except for the call's purpose; no handler
  /// runs meanwhile. Returns the result; a negative result is an error number. Not for calls that block: the kernel has
  /// one restart block, and the thread's own interrupted call may need it.
  base::Result<std::int64_t> ask(pid_t thread, const SystemCall& call);
  /// Lets all threads continue where they were. Interrupted calls continue or end, as after any stop. An error names
  /// the first thread that was gone.
  base::Status release();

 private:
  struct Thread {
    Registers registers{};
    bool asked = false;  // it is not where the kernel restarts interrupted calls
  };
  explicit Tracee(pid_t process) : process_(process) {}
  base::Status seize_new_threads(bool& any);
  base::Status is_the_same() const;
  base::Status go_on(pid_t thread, Thread& state);
  base::Result<const Thread*> known(pid_t thread) const;

  pid_t process_;
  std::map<pid_t, Thread> threads_;
  std::uint64_t call_instruction_ = 0;  // 0: not searched yet
  bool stopped_ = false;
};

}  // namespace perdure::process
