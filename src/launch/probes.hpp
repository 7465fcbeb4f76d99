#pragma once
// Runs commands concurrently without input and output, to find out which of them succeed.
#include <signal.h>

#include <string>
#include <vector>

namespace perdure::launch {

/// Each command has its own process group, which the destructor ends.
class Probes {
 public:
  /// Starts them all, with `mask` as their signal mask.
  Probes(const std::vector<std::vector<std::string>>& commands, const sigset_t& mask);
  ~Probes();
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;
  /// Whether all have ended.
  bool ended();
  /// Ends those that still run, which therefore fail. One answer for each command: whether its exit status was 0.
  std::vector<bool> finish();

 private:
  struct Running {
    pid_t pid = -1;  ///< -1: ended, or never started
    bool good = false;
  };
  void end();
  bool wait_for_end(int rounds);
  void signal_all(int number) const;
  std::vector<Running> all_;
};

}  // namespace perdure::launch
