#pragma once
// `run` launches programs and receives signals through this seam; tests substitute a scripted one.
#include <optional>
#include <string>
#include <vector>

#include "plan/relaunch.hpp"

namespace perdure::launch {

/// NAME=VALUE pairs that are added to, or replace those of, our environment.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The outcome of commands that ran concurrently.
struct Probed {
  std::vector<bool> good;   ///< ended with status 0 in time
  std::optional<int> stop;  ///< a signal that asks to stop came first
};

/// Runs one program at a time. One thread calls it.
class Supervisor {
 public:
  virtual ~Supervisor() = default;
  /// Launches `command`, passes signals on to it, and returns how it ended. The caller sets `newer_version`.
  virtual plan::ProgramEnd run(const std::vector<std::string>& command, const Environment& environment) = 0;
  /// Waits; a signal that asks to stop ends the wait and is returned.
  virtual std::optional<int> sleep(double seconds) = 0;
  /// Runs `commands` concurrently, without input and output, for at most `limit_s`.
  virtual Probed probe(const std::vector<std::vector<std::string>>& commands, double limit_s) = 0;
};

/// Runs real processes. While it lives, it takes this process's SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD;
/// signals that were ignored before stay ignored.
class ProcessSupervisor : public Supervisor {
 public:
  /// `grace_s` is the time that a program may take to end after a signal that asks to stop; then it is killed. 0: no
  /// limit.
  explicit ProcessSupervisor(double grace_s = 0);
  ~ProcessSupervisor() override;
  ProcessSupervisor(const ProcessSupervisor&) = delete;
  ProcessSupervisor& operator=(const ProcessSupervisor&) = delete;
  plan::ProgramEnd run(const std::vector<std::string>& command, const Environment& environment) override;
  std::optional<int> sleep(double seconds) override;
  Probed probe(const std::vector<std::vector<std::string>>& commands, double limit_s) override;

 private:
  struct Saved;
  Saved* saved_;
  const double grace_s_;
};

/// Returns "exited with status 3", "killed by signal 9 (Killed)".
std::string end_text(const plan::ProgramEnd& end);

}  // namespace perdure::launch
