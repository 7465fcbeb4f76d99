#pragma once
// Decides after the program of `perdure run` ended: launch again, and when, or end, and why. Pure.
#include <cstdint>

namespace perdure::plan {

struct RelaunchPolicy {
  std::uint64_t restarts = 3;  ///< failures in a row that are followed by another launch
  double backoff_s = 1;        ///< after the first failure; doubles with each one in a row
  double backoff_max_s = 60;
  double settled_after_s = 600;  ///< a run that lasted this long resets the count of failures
};

/// The end of one launch of the program.
struct ProgramEnd {
  enum class Kind { exited, killed, not_started } kind = Kind::exited;
  int value = 0;                ///< exit status, or signal, or errno of the launch
  double lasted_s = 0;          ///< from its launch to its end
  bool newer_version = false;   ///< the store has a newer complete version than before the launch
  bool stop_requested = false;  ///< SIGINT or SIGTERM was passed on to the program during this launch
  bool out_of_grace = false;    ///< it did not end in time then, and was killed
};

/// Passed from launch to launch; starts as {}.
struct RelaunchState {
  std::uint64_t launches = 0;
  std::uint64_t failures = 0;         ///< in all
  std::uint64_t failures_in_row = 0;  ///< since the last settled run
  std::uint64_t early_failures_in_row =
      0;  ///< within 5 s of the launch and without a newer version: the program does not get going
};

enum class RelaunchAction { launch, end };
enum class RelaunchReason { failed, succeeded, stopped, cannot_start, out_of_restarts, out_of_nodes };

struct RelaunchDecision {
  RelaunchAction action = RelaunchAction::end;
  RelaunchReason reason = RelaunchReason::succeeded;
  double delay_s = 0;  ///< before the next launch
  int status = 0;      ///< exit status: the program's own, 128 + signal, 127 (no such program) or 126 (cannot be run)
  RelaunchState state;
};

inline constexpr double kEarlyFailure_s = 5;

RelaunchDecision after_end(const RelaunchPolicy& policy, RelaunchState state, const ProgramEnd& end);

/// The status of `perdure run` if the program succeeded, but the store lacks acknowledged versions (EX_TEMPFAIL).
inline constexpr int kNotStored = 75;
/// Keeps a failure status of the program, which says more.
int status_with_store(int program, bool all_stored);

/// Returns "succeeded", "out of restarts", ... for summaries.
const char* reason_text(RelaunchReason reason);

}  // namespace perdure::plan
