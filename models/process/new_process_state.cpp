// Gives a new process its permissions and switches (kernel_state.hpp).
#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "process/new_process.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"
#include "process/scheduling.hpp"

namespace perdure::process {
namespace {

/// For people: says what was not done, and why; empty if it was.
std::string not_done(const std::string& what, int error) {
  return error == 0 ? "" : what + ": " + std::strerror(error);
}

int write_number(const std::string& path, long long number) {
  std::ofstream file(path);
  errno = 0;
  file << number << std::flush;
  return file ? 0 : (errno != 0 ? errno : EIO);
}

}  // namespace

AskedThread NewProcess::asked(pid_t thread) {
  AskedThread one;
  one.process = process_;
  one.thread = thread;
  one.ask = [this, thread](const SystemCall& call) { return carry_out(thread, registers_, instruction_, call); };
  one.address = foothold_ + kPageBytes;
  one.value = [this, at = one.address] { return read_value<std::uint64_t>(process_, at); };
  return one;
}

base::Status NewProcess::carry_out_calls(pid_t thread, const std::vector<StateCall>& calls) {
  for (const StateCall& one : calls) {
    const auto done = ask(thread, one.call, one.what + " of");
    if (!done && !one.may_fail) return base::fail(done.error());
    if (!done) notes_.push_back("it goes on without what it had: " + done.error().text());
  }
  return {};
}

base::Status NewProcess::set_state() {
  const ProcessState& wanted = image_->state;
  PERDURE_TRY(const ProcessState now, read_process_state(asked(process_)));
  PERDURE_CHECK(carry_out_calls(process_, calls_for(wanted, now)));
  const std::string directory = "/proc/" + std::to_string(process_);
  if (wanted.dumped != now.dumped && write_number(directory + "/coredump_filter", wanted.dumped) != 0)
    notes_.push_back("what of its memory a dump has (coredump_filter) is as for whoever resumes it");
  if (wanted.oom_score == now.oom_score) return {};
  const int error = write_number(directory + "/oom_score_adj", wanted.oom_score);
  if (error != 0)
    notes_.push_back(not_done("it is not as likely to be killed for memory (oom_score_adj) as it was", error));
  return {};
}

// A thread whose user may not set a priority continues with the default.
base::Status NewProcess::set_state(const ThreadImage& thread) {
  const pid_t who = here(thread.number);
  PERDURE_TRY(const ThreadState now, read_thread_state(asked(who)));
  PERDURE_CHECK(carry_out_calls(who, calls_for(thread.state, now)));
  const ThreadState& wanted = thread.state;
  const std::string of_thread = " of thread " + std::to_string(thread.number) + " is as for whoever resumes it";
  if (wanted.io_priority != now.io_priority &&
      ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, who, wanted.io_priority) != 0)
    notes_.push_back(not_done("the I/O priority" + of_thread, errno));
  const int error = has_other_use(wanted, now) ? set_use(who, wanted.least_use, wanted.most_use) : 0;
  if (error != 0) notes_.push_back(not_done("how much of a processor (uclamp)" + of_thread, error));
  return {};
}

// The foothold is gone, so no call may write a result to memory.
base::Status NewProcess::set_last_state() {
  AskedThread one = asked(process_);
  constexpr std::uint64_t kGetWriteExecute = 66;  // PR_GET_MDWE
  ProcessState now;
  PERDURE_TRY(const auto write_execute, one.ask({SYS_prctl, kGetWriteExecute, 0, 0, 0, 0}));
  now.write_execute = static_cast<std::uint32_t>(write_execute < 0 ? 0 : write_execute);
  PERDURE_CHECK(carry_out_calls(process_, last_calls_for(*image_, now)));
  if (image_->state.stopped)
    notes_.push_back("it was stopped when it was captured, and is: kill -CONT " + std::to_string(process_));
  for (auto& note : notes_of_lost(*image_)) notes_.push_back(std::move(note));
  return {};
}

}  // namespace perdure::process
