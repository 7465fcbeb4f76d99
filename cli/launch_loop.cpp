#include "cli/launch_loop.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/bytes.hpp"
#include "cli/process_arguments.hpp"
#include "os/system.hpp"
#include "process/proc_lists.hpp"

namespace perdure::cli {
namespace {

using process::CaptureSchedule;

/// Gives the status as a shell does.
int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

sigset_t LaunchSignals::all() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT})
    sigaddset(&set, signal);
  return set;
}

LaunchSignals::LaunchSignals() {
  const sigset_t set = all();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &child_action_);  // an inherited SIG_IGN would make children vanish unseen
}

// Signals for a program that has ended come too late. They must not end us, as we have its status to report.
LaunchSignals::~LaunchSignals() {
  sigset_t taken = all();
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (::sigismember(&before_, signal) == 1) sigdelset(&taken, signal);
  const timespec now{};
  while (::sigtimedwait(&taken, nullptr, &now) > 0) {
  }
  ::sigaction(SIGCHLD, &child_action_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

LaunchLoop::LaunchLoop(process::ProcessStore& store, Program program, Terminal& terminal)
    : store_(store), program_(std::move(program)), terminal_(terminal), schedule_(program_.every_s, os::monotonic_s()) {
  summary_.process = process();
}

LaunchSummary LaunchLoop::run() {
  while (!has_ended()) {
    const auto step = schedule_.next(os::monotonic_s());
    switch (step.action) {
      case CaptureSchedule::Action::wait:
        wait_until(step.until_s);
        break;
      case CaptureSchedule::Action::capture:
      case CaptureSchedule::Action::capture_and_end:
        capture(step.action == CaptureSchedule::Action::capture_and_end);
        break;
      case CaptureSchedule::Action::end:
        end_without_capture();
        break;
    }
  }
  return summary_;
}

bool LaunchLoop::has_ended() {
  int status = 0;
  const pid_t ended = ::waitpid(process(), &status, WNOHANG);
  if (ended == 0) return false;
  if (ended == process() && !summary_.captured_at_end) summary_.status = status_of(status);
  // 0 would say that it is done, or can go on: a program that ends well when it is told to end is not.
  if (told_to_end_ && summary_.status == 0 && !summary_.captured_at_end) summary_.status = 128 + SIGTERM;
  return true;
}

/// Waits until then, or until a signal came, which is taken.
void LaunchLoop::wait_until(double until_s) {
  const sigset_t set = LaunchSignals::all();
  siginfo_t information{};
  int signal = 0;
  if (until_s == CaptureSchedule::kNever) {
    signal = ::sigwaitinfo(&set, &information);
  } else {
    const double left_s = std::max(0.0, until_s - os::monotonic_s());
    const timespec left{static_cast<time_t>(left_s), static_cast<long>(std::fmod(left_s, 1) * 1e9)};
    signal = ::sigtimedwait(&set, &information, &left);
  }
  if (signal > 0) take(information);
}

void LaunchLoop::take(const siginfo_t& information) {
  const int signal = information.si_signo;
  if (signal == SIGUSR1) {
    schedule_.ask();
  } else if (signal == SIGTERM && !told_to_end_) {
    schedule_.ask_for_end(os::monotonic_s());
  } else if (signal != SIGCHLD && information.si_code != SI_KERNEL) {  // a terminal tells all of its group
    ::kill(process(), signal);
  }
}

/// Waits until the store has all of it, or the wait is interrupted.
base::Status LaunchLoop::wait_stored(std::int64_t version) {
  for (;;) {
    const auto stored = store_.session().wait(program_.name, version, PERDURE_LEVEL_STORE, 0.05);
    if (stored || stored.error().code != PERDURE_TIMEOUT) return stored;
    const sigset_t set = LaunchSignals::all();
    const timespec now{};
    siginfo_t information{};
    while (::sigtimedwait(&set, &information, &now) > 0) take(information);
    if (schedule_.next(os::monotonic_s()).action == CaptureSchedule::Action::end)
      return base::fail(PERDURE_TIMEOUT, program_.name, "the image was not in the store when the end came");
  }
}

/// Frees the numbers of `processes`, which were killed, and of children of theirs that had ended before. The first one
/// is left to has_ended().
void LaunchLoop::reap(const std::vector<std::int32_t>& processes) const {
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(process()), &how, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  for (const pid_t one : processes)
    while (one != process() && ::waitpid(one, nullptr, 0) < 0 && errno == EINTR) {
    }
  for (const pid_t one : process::children_of(::getpid()))
    if (one != process() && process::has_process_ended(one)) ::waitpid(one, nullptr, WNOHANG);
}

/// A program that is to end stands still until no part of its image can be lost.
void LaunchLoop::capture(bool ends) {
  const double begun_s = os::monotonic_s();
  const auto end_it = [&](const process::CaptureReport& report) -> base::Status {
    PERDURE_CHECK(wait_stored(report.version));
    return end_all(report);
  };
  std::function<base::Status(const process::CaptureReport&)> then;
  if (ends) then = end_it;
  if (ends)
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // children that lose their parent by it come to us, who see that they end
  const auto done = store_.capture(program_.choices, program_.name, then);
  if (ends && done) reap(done->processes);
  if (ends) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  schedule_.captured(begun_s, os::monotonic_s(), done.has_value());
  if (!done) {
    if (done.error().code != PERDURE_NOT_FOUND) warn(terminal_, done.error());  // otherwise it has ended meanwhile
    return;
  }
  summary_.versions.push_back(done->version);
  summary_.captured_at_end = ends;
  for (const auto& note : done->notes)
    if (notes_.insert(note).second) print(terminal_.err, "perdure: " + note + "\n");
  const std::string others = done->processes.size() < 2 ? "" : fmt::format(" of {} processes", done->processes.size());
  const std::string what =
      fmt::format("{}@{}, {}{}", program_.name, done->version, base::format_bytes(done->page_bytes), others);
  if (ends)
    print(terminal_.err, fmt::format("perdure: {} is in the store, and the program was ended; to go on: perdure launch "
                                     "--resume --name {} -- PROGRAM, or perdure resume {}\n",
                                     what, program_.name, program_.name));
  else
    print(terminal_.err,
          fmt::format("perdure: captured {}; it stood still for {:.1f} ms\n", what, done->frozen_s * 1e3));
}

void LaunchLoop::end_without_capture() {
  if (!std::exchange(told_to_end_, true)) {
    print(terminal_.err, "perdure: the program is told to end (SIGTERM) without a capture\n");
    if (program_.choices.tree)
      for (const pid_t one : process::list_tree(process())) ::kill(one, SIGTERM);
    else
      ::kill(process(), SIGTERM);
  }
  wait_until(CaptureSchedule::kNever);
}

}  // namespace perdure::cli
