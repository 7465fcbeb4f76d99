#pragma once
// A process whose threads all stand still. What it is made to do meanwhile leaves nothing behind. (docs/adr/0040)
#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "process/registers.hpp"

namespace perdure::process {

/// All calls by the thread that seized it: the kernel knows it as the tracer.
class Tracee {
 public:
  /// Returns when no thread of the process runs any more, those that it made meanwhile included. PERDURE_NOT_FOUND: no
  /// such process; PERDURE_PERMISSION: it is another user's, or the system lets a process trace its children only;
  /// PERDURE_BUSY: another process traces it, or it became another program meanwhile, or one of its threads did not
  /// come to a stop in time (WaitLimit): the system lets go of that one when this thread ends. Then none of its threads
  /// was changed, and all go on.
  static base::Result<Tracee> seize(pid_t process);
  Tracee(Tracee&&) noexcept;
  Tracee& operator=(Tracee&&) noexcept;
  /// Releases what is still held.
  ~Tracee();

  pid_t process() const { return process_; }
  /// The process's own first, the others ascending: numbers begin anew when the greatest has been given. One that has
  /// ended, and that others still wait for, is not among them.
  std::vector<pid_t> threads() const;
  /// It was stopped by a signal (SIGSTOP, or from a terminal), and stays so when it is released.
  bool is_stopped() const { return stopped_; }
  /// As they are when it is released, too.
  base::Result<Registers> registers(pid_t thread) const;
  /// Floating point and vectors, as the processor lays them out (on x86-64 what XSAVE keeps).
  base::Result<std::vector<std::byte>> extended_registers(pid_t thread) const;
  /// Signals that it blocks, bit n - 1 for signal n.
  base::Result<std::uint64_t> blocked_signals(pid_t thread) const;
  /// The thread carries out `call`, and is as before afterwards, but for what the call is for. No handler runs
  /// meanwhile. Below 0: an error number. Not for calls that wait: the kernel has one place for what is to go on, and
  /// the thread's own interrupted call may be there.
  base::Result<std::int64_t> ask(pid_t thread, const SystemCall& call);
  /// All threads go on where they were: a call that was interrupted goes on, or ends, as after any stop. An error tells
  /// of the first thread that was gone.
  base::Status release();

 private:
  struct Thread {
    Registers registers{};
    bool asked = false;  // it is not where the kernel begins interrupted calls again
  };
  explicit Tracee(pid_t process) : process_(process) {}
  base::Status seize_new_threads(bool& any);
  base::Status is_the_same() const;
  base::Status go_on(pid_t thread, Thread& state);
  base::Result<const Thread*> known(pid_t thread) const;

  pid_t process_;
  std::map<pid_t, Thread> threads_;
  std::uint64_t call_instruction_ = 0;  // 0: not looked for
  bool stopped_ = false;
};

}  // namespace perdure::process
