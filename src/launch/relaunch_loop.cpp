#include "launch/relaunch_loop.hpp"

#include <fmt/format.h>

namespace perdure::launch {
namespace {

constexpr int kSignalBase = 128, kCannotLaunch = 126;

std::string relaunch_text(const plan::RelaunchPolicy& policy, const plan::RelaunchDecision& decision,
                          const plan::ProgramEnd& end) {
  return fmt::format("the program {} after {:.1f} s; restart {} of {} in {:.1f} s{}", end_text(end), end.lasted_s,
                     decision.state.failures_in_row, policy.restarts, decision.delay_s,
                     decision.state.early_failures_in_row > 1
                         ? fmt::format(" ({} early failures in a row without a newer checkpoint)",
                                       decision.state.early_failures_in_row)
                         : "");
}

base::Result<Launch> next_launch(const Loop& loop) {
  Launch launch{loop.command, loop.environment};
  if (loop.nodes == nullptr) return launch;
  return loop.nodes->launch_on_nodes(launch);
}

// Waits, and looks after the nodes. True: the next launch may begin; otherwise the summary says why not.
bool prepare_relaunch(const Loop& loop, double delay_s, Supervisor& supervisor, LoopSummary& summary) {
  summary.waiting_s += delay_s;
  auto signal = supervisor.sleep(delay_s);
  if (!signal && loop.nodes != nullptr) {
    auto looked = loop.nodes->look_after(supervisor);
    if (!looked) {
      loop.announce(looked.error().text());
      summary.reason = plan::RelaunchReason::out_of_nodes;
      return false;
    }
    signal = *looked;
  }
  if (!signal) return true;
  summary.status = kSignalBase + *signal;
  summary.reason = plan::RelaunchReason::stopped;
  return false;
}

}  // namespace

bool progressed(const Versions& before, const Versions& after) {
  for (const auto& [name, version] : after) {
    const auto known = before.find(name);
    if (known == before.end() || known->second < version) return true;
  }
  return false;
}

LoopSummary run_loop(const Loop& loop, Supervisor& supervisor) {
  LoopSummary summary;
  summary.versions = loop.look();
  for (;;) {
    const auto launch = next_launch(loop);
    if (!launch) {
      loop.announce(launch.error().text());
      summary.status = kCannotLaunch;
      summary.reason = plan::RelaunchReason::cannot_start;
      return summary;
    }
    plan::ProgramEnd end = supervisor.run(launch->command, launch->environment);
    Versions now = loop.look();
    end.newer_version = progressed(summary.versions, now);
    summary.versions = std::move(now);
    summary.computing_s += end.lasted_s;
    const auto decision = plan::after_end(loop.policy, summary.state, end);
    summary.state = decision.state;
    summary.status = decision.status;
    summary.reason = decision.reason;
    if (end.kind != plan::ProgramEnd::Kind::exited || end.value != 0)
      summary.failures.push_back(fmt::format("{} after {:.1f} s{}", end_text(end), end.lasted_s,
                                             end.out_of_grace ? ": it had not ended within run.grace" : ""));
    if (decision.action == plan::RelaunchAction::end) return summary;

    loop.announce(relaunch_text(loop.policy, decision, end));
    if (!prepare_relaunch(loop, decision.delay_s, supervisor, summary)) return summary;
  }
}

}  // namespace perdure::launch
