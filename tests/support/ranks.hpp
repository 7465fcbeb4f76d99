#pragma once
// Runs ranks without MPI: forked processes that share a communicator in memory. If one dies, the others are killed, as
// mpirun does.
#include <functional>
#include <string>
#include <vector>

#include "perdure/perdure.h"

namespace perdure::test_support {

/// The environment of a rank's function.
struct Rank {
  int rank = 0;
  int size = 0;
  perdure_communicator communicator{};
  /// Opens a handle; on failure prints the message and ends the process with status 90.
  perdure_t* open(const std::string& options) const;
  void barrier() const { communicator.barrier(communicator.context); }
};

struct Outcome {
  std::vector<int> exit_codes;  ///< per rank; 128 + signal if killed
  bool all(int code) const;
  std::string text() const;
};

/// Runs `body` in `ranks` processes; its return value is the exit code. After `timeout_s` all are killed (exit code
/// 128+9, and `timed_out`).
struct RunOptions {
  int ranks = 4;
  double timeout_s = 60;
  bool kill_all_when_one_dies = true;
  std::function<void(const std::vector<int>& pids)> meanwhile;  ///< runs in the parent after the start
  std::function<void(int rank)> in_child;                       ///< runs before the body; sets this rank's environment
};
Outcome run_ranks(const RunOptions& options, const std::function<int(const Rank&)>& body);

}  // namespace perdure::test_support
