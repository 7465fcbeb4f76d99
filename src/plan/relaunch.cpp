#include "plan/relaunch.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace perdure::plan {
namespace {

constexpr int kNoSuchProgram = 127, kCannotRun = 126, kSignalBase = 128;

int final_status(const ProgramEnd& end) {
  switch (end.kind) {
    case ProgramEnd::Kind::killed:
      return kSignalBase + end.value;
    case ProgramEnd::Kind::not_started:
      return end.value == ENOENT ? kNoSuchProgram : kCannotRun;
    case ProgramEnd::Kind::exited:
      break;
  }
  return end.value;
}

double delay_after(const RelaunchPolicy& policy, std::uint64_t failures_in_row) {
  const double exponent = static_cast<double>(std::min<std::uint64_t>(failures_in_row - 1, 60));
  return std::clamp(policy.backoff_s * std::exp2(exponent), 0.0, std::max(policy.backoff_max_s, 0.0));
}

}  // namespace

RelaunchDecision after_end(const RelaunchPolicy& policy, RelaunchState state, const ProgramEnd& end) {
  RelaunchDecision decision{RelaunchAction::end, RelaunchReason::succeeded, 0, final_status(end), state};
  RelaunchState& next = decision.state;
  ++next.launches;
  if (end.kind == ProgramEnd::Kind::exited && end.value == 0) return decision;

  if (end.lasted_s >= policy.settled_after_s) next.failures_in_row = 0;
  ++next.failures;
  ++next.failures_in_row;
  const bool early = end.lasted_s < kEarlyFailure_s && !end.newer_version;
  next.early_failures_in_row = early ? next.early_failures_in_row + 1 : 0;

  if (end.stop_requested) {
    decision.reason = RelaunchReason::stopped;
  } else if (end.kind == ProgramEnd::Kind::not_started) {
    decision.reason = RelaunchReason::cannot_start;
  } else if (next.failures_in_row > policy.restarts) {
    decision.reason = RelaunchReason::out_of_restarts;
  } else {
    decision.action = RelaunchAction::launch;
    decision.reason = RelaunchReason::failed;
    decision.delay_s = delay_after(policy, next.failures_in_row);
  }
  return decision;
}

int status_with_store(int program, bool all_stored) { return program == 0 && !all_stored ? kNotStored : program; }

const char* reason_text(RelaunchReason reason) {
  switch (reason) {
    case RelaunchReason::failed:
      return "failed";
    case RelaunchReason::succeeded:
      return "succeeded";
    case RelaunchReason::stopped:
      return "stopped on request";
    case RelaunchReason::cannot_start:
      return "cannot be started";
    case RelaunchReason::out_of_restarts:
      return "out of restarts";
    case RelaunchReason::out_of_nodes:
      return "out of nodes";
  }
  return "unknown";
}

}  // namespace perdure::plan
