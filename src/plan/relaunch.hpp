#pragma once
// What `perdure run` does after its program ended: launch it again (when), or end (why). Pure.
#include <cstdint>

namespace perdure::plan {

struct RelaunchPolicy {
  std::uint64_t restarts = 3;  ///< how many failures in a row are answered with another launch
  double backoff_s = 1;        ///< wait after the first failure; doubles with each one in a row
  double backoff_max_s = 60;
  double settled_after_s = 600;  ///< a run that lasted this long starts the count of failures afresh
};

/// How one launch of the program ended.
struct ProgramEnd {
  enum class Kind { exited, killed, not_started } kind = Kind::exited;
  int value = 0;                ///< exit status, or signal, or errno of the launch
  double lasted_s = 0;          ///< from its launch to its end
  bool newer_version = false;   ///< the store has a newer complete version than before the launch
  bool stop_requested = false;  ///< SIGINT or SIGTERM was passed on to the program during this launch
  bool out_of_grace = false;    ///< it did not end in time then, and was killed
};

/// Carried from launch to launch; starts as {}.
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
  int status = 0;      ///< to end with: the program's own, 128 + signal, 127 (no such program) or 126 (cannot be run)
  RelaunchState state;
};

inline constexpr double kEarlyFailure_s = 5;

RelaunchDecision after_end(const RelaunchPolicy& policy, RelaunchState state, const ProgramEnd& end);

/// With which status `perdure run` ends that is the program's, when the store lacks what was acknowledged
/// (EX_TEMPFAIL).
inline constexpr int kNotStored = 75;
/// A failure of the program says more.
int status_with_store(int program, bool all_stored);

/// "succeeded", "out of restarts", ... for summaries.
const char* reason_text(RelaunchReason reason);

}  // namespace perdure::plan
