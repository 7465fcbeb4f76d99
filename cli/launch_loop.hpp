#pragma once
// Runs perdure launch while its program runs.
#include <signal.h>

#include <set>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "process/capture_schedule.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {

/// While it lives, those signals wait to be taken by the loop, in all threads that are made meanwhile.
class LaunchSignals {
 public:
  LaunchSignals();
  ~LaunchSignals();
  LaunchSignals(const LaunchSignals&) = delete;
  LaunchSignals& operator=(const LaunchSignals&) = delete;
  static sigset_t all();

 private:
  sigset_t before_;
  struct sigaction child_action_ {};
};

struct LaunchSummary {
  pid_t process = 0;
  int status = 0;  ///< status to end with: the program's, as a shell says it; 0 when it was captured and ended
  bool captured_at_end = false;
  std::vector<std::int64_t> versions;
};

class LaunchLoop {
 public:
  struct Program {
    std::string name;  ///< name of its checkpoints
    process::CaptureChoices choices;
    double every_s = 0;
  };
  LaunchLoop(process::ProcessStore& store, Program program, Terminal& terminal);
  /// Runs until the program has ended.
  LaunchSummary run();

 private:
  pid_t process() const { return program_.choices.process.process; }
  bool has_ended();
  void wait_until(double until_s);
  void take(const siginfo_t& signal);
  base::Status wait_stored(std::int64_t version);
  void capture(bool ends);
  void reap(const std::vector<std::int32_t>& processes) const;
  void end_without_capture();

  process::ProcessStore& store_;
  const Program program_;
  Terminal& terminal_;
  process::CaptureSchedule schedule_;
  LaunchSummary summary_;
  bool told_to_end_ = false;
  std::set<std::string> notes_;  // notes that were printed: captures repeat them
};

}  // namespace perdure::cli
