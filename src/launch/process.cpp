// Runs real processes behind the seam:
// - The program gets its own process group, so that a signal reaches all of it and nothing else. Exception: in the
//   foreground of a terminal it shares our group, because it could not read from the terminal otherwise. The terminal's
//   own signals (Ctrl-C) reach it without us, and are not passed on a second time.
// - SIGINT, SIGTERM and SIGHUP go to the group. SIGUSR1 and SIGUSR2, which kill processes that do not expect them, go
//   to the program alone.
// - If we are killed, the kernel sends the program a SIGTERM.
#include "launch/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/probes.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::launch {
namespace {

using Kind = plan::ProgramEnd::Kind;
constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

bool asks_to_stop(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

bool in_foreground_of_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

/// Runs in the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, char* const* environment, const sigset_t& mask, bool own_group,
                         pid_t parent, int report) {
  if (own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // the parent died before prctl
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(argv[0], argv, environment);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

std::vector<std::string> merged(const Environment& added) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string entry = *at, name = entry.substr(0, entry.find('='));
    bool replaced = false;
    for (const auto& [key, value] : added) replaced |= key == name;
    if (!replaced) all.push_back(entry);
  }
  for (const auto& [key, value] : added) all.push_back(key + "=" + value);
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Child {
  pid_t pid = -1;
  int error = 0;  ///< of the launch
  bool own_group = true;
};

Child launch(const std::vector<std::string>& command, const Environment& environment, const sigset_t& mask) {
  Child child;
  child.own_group = !in_foreground_of_terminal();
  const auto variables = merged(environment);
  const auto argv = pointers(command), envp = pointers(variables);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return {-1, errno, true};
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid == 0) become(argv.data(), envp.data(), mask, child.own_group, parent, report[1]);
  child.error = child.pid < 0 ? errno : 0;
  ::close(report[1]);
  if (child.pid > 0 && child.own_group)
    ::setpgid(child.pid, child.pid);  // both processes do it, so that kill finds the group
  int error = 0;
  ssize_t got = 0;
  do got = ::read(report[0], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == sizeof error) child.error = error;
  ::close(report[0]);
  return child;
}

void pass_on(const Child& child, const signalfd_siginfo& signal) {
  const int number = static_cast<int>(signal.ssi_signo);
  const bool from_terminal = signal.ssi_code == SI_KERNEL;
  if (!child.own_group && from_terminal) return;
  ::kill(child.own_group && asks_to_stop(number) ? -child.pid : child.pid, number);
}

double seconds_since(std::uint64_t start_ns) { return static_cast<double>(os::monotonic_ns() - start_ns) * 1e-9; }

/// The time that a program has to end after the first signal that asks for it.
class Grace {
 public:
  explicit Grace(double seconds) : seconds_(seconds) {}
  void begin() {
    if (begun_ns_ == 0) begun_ns_ = os::monotonic_ns();
  }
  bool is_over() const { return counts() && left_s() <= 0; }
  /// Returns how long to wait for a signal: SIGCHLDs may be merged.
  int look_ms() const {
    constexpr double kLookAnyway_s = 1;
    const double look_s = counts() && left_s() > 0 ? std::min(left_s(), kLookAnyway_s) : kLookAnyway_s;
    return static_cast<int>(look_s * 1000) + 1;
  }

 private:
  bool counts() const { return seconds_ > 0 && begun_ns_ != 0; }
  double left_s() const { return seconds_ - seconds_since(begun_ns_); }
  const double seconds_;
  std::uint64_t begun_ns_ = 0;
};

}  // namespace

struct ProcessSupervisor::Saved {
  sigset_t mask{};
  struct sigaction child_action {};
  os::Fd signals;

  std::optional<signalfd_siginfo> next(int timeout_ms) {
    pollfd waiting{signals.get(), POLLIN, 0};
    if (::poll(&waiting, 1, timeout_ms) <= 0) return std::nullopt;
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return info;
  }
};

ProcessSupervisor::ProcessSupervisor(double grace_s) : saved_(new Saved), grace_s_(grace_s) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &saved_->child_action);  // an inherited SIG_IGN would make children vanish unseen
  sigset_t taken;
  ::sigemptyset(&taken);
  ::sigaddset(&taken, SIGCHLD);
  for (int signal : kForwarded) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ::sigaddset(&taken, signal);  // nohup stays in force
  }
  ::sigprocmask(SIG_BLOCK, &taken, &saved_->mask);
  saved_->signals = os::Fd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

ProcessSupervisor::~ProcessSupervisor() {
  ::sigaction(SIGCHLD, &saved_->child_action, nullptr);
  ::sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
  delete saved_;
}

plan::ProgramEnd ProcessSupervisor::run(const std::vector<std::string>& command, const Environment& environment) {
  const std::uint64_t start = os::monotonic_ns();
  const Child child = launch(command, environment, saved_->mask);
  plan::ProgramEnd end;
  if (child.error != 0) {
    if (child.pid > 0) ::waitpid(child.pid, nullptr, 0);
    return {Kind::not_started, child.error, seconds_since(start), false, false};
  }
  Grace grace(grace_s_);
  int status = 0;
  while (::waitpid(child.pid, &status, WNOHANG) != child.pid) {
    if (grace.is_over() && !std::exchange(end.out_of_grace, true))
      ::kill(child.own_group ? -child.pid : child.pid, SIGKILL);
    const auto signal = saved_->next(grace.look_ms());
    if (!signal || signal->ssi_signo == SIGCHLD) continue;
    if (asks_to_stop(static_cast<int>(signal->ssi_signo))) {
      end.stop_requested = true;
      grace.begin();
    }
    pass_on(child, *signal);
  }
  end.kind = WIFSIGNALED(status) ? Kind::killed : Kind::exited;
  end.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  end.lasted_s = seconds_since(start);
  return end;
}

std::optional<int> ProcessSupervisor::sleep(double seconds) {
  const std::uint64_t start = os::monotonic_ns();
  for (double left = seconds;; left = seconds - seconds_since(start)) {
    // Looks at least once, so that it does not miss a signal that came just before.
    const auto signal = saved_->next(left <= 0 ? 0 : static_cast<int>(left * 1000) + 1);
    if (signal && asks_to_stop(static_cast<int>(signal->ssi_signo))) return static_cast<int>(signal->ssi_signo);
    if (!signal && seconds_since(start) >= seconds) return std::nullopt;
  }
}

Probed ProcessSupervisor::probe(const std::vector<std::vector<std::string>>& commands, double limit_s) {
  const std::uint64_t start = os::monotonic_ns();
  Probes probes(commands, saved_->mask);
  Probed probed;
  while (!probes.ended() && !probed.stop) {
    const double left = limit_s - seconds_since(start);
    if (left <= 0) break;
    const auto signal = saved_->next(static_cast<int>(std::min(left * 1000, 1000.0)) + 1);
    if (signal && asks_to_stop(static_cast<int>(signal->ssi_signo))) probed.stop = static_cast<int>(signal->ssi_signo);
  }
  probed.good = probes.finish();
  return probed;
}

std::string end_text(const plan::ProgramEnd& end) {
  switch (end.kind) {
    case Kind::not_started:
      return std::string("could not be started: ") + std::strerror(end.value);
    case Kind::killed:
      return "killed by signal " + std::to_string(end.value) + " (" + ::strsignal(end.value) + ")";
    case Kind::exited:
      break;
  }
  return "exited with status " + std::to_string(end.value);
}

}  // namespace perdure::launch
