#pragma once
// The seam through which `run` launches programs and receives signals; tests put a scripted one in its place.
#include <optional>
#include <string>
#include <vector>

#include "plan/relaunch.hpp"

namespace perdure::launch {

/// NAME=VALUE pairs that are added to, or replace those of, our environment.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// What became of commands that ran side by side.
struct Probed {
  std::vector<bool> good;   ///< ended with status 0 in time
  std::optional<int> stop;  ///< a signal that asks to stop came first
};

/// One program at a time. Called by one thread.
class Supervisor {
 public:
  virtual ~Supervisor() = default;
  /// Launches `command`, passes signals on to it, and returns how it ended. `newer_version` is left to the caller.
  virtual plan::ProgramEnd run(const std::vector<std::string>& command, const Environment& environment) = 0;
  /// Waits; a signal that asks to stop ends the wait and is returned.
  virtual std::optional<int> sleep(double seconds) = 0;
  /// Runs `commands` side by side, without input and output, for at most `limit_s`.
  virtual Probed probe(const std::vector<std::vector<std::string>>& commands, double limit_s) = 0;
};

/// Real processes. While it lives, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD of this process are taken by
/// it; those that were ignored before stay ignored.
class ProcessSupervisor : public Supervisor {
 public:
  /// `grace_s`: so long after a signal that asks to stop the program may take to end; then it is killed. 0: as long as
  /// it takes.
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

/// "exited with status 3", "killed by signal 9 (Killed)".
std::string end_text(const plan::ProgramEnd& end);

}  // namespace perdure::launch
