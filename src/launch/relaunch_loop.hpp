#pragma once
// Runs the loop of `perdure run`: launch, watch, decide (plan/relaunch), wait, launch again; and summarises it.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launch/node_keeper.hpp"
#include "launch/process.hpp"
#include "plan/relaunch.hpp"

namespace perdure::launch {

/// The newest complete version of each name in the store.
using Versions = std::map<std::string, std::uint64_t>;

struct LoopSummary {
  int status = 0;
  plan::RelaunchReason reason = plan::RelaunchReason::succeeded;
  plan::RelaunchState state;
  std::vector<std::string> failures;  ///< why each failed launch failed
  double computing_s = 0;             ///< the program was running
  double waiting_s = 0;               ///< between a failure and the next launch
  Versions versions;                  ///< at the end
};

struct Loop {
  std::vector<std::string> command;
  Environment environment;
  plan::RelaunchPolicy policy;
  std::function<Versions()> look;                         ///< into the store
  std::function<void(const std::string& line)> announce;  ///< informs the user
  NodeKeeper* nodes = nullptr;  ///< chooses the nodes of each launch; nullptr: the program does
};

LoopSummary run_loop(const Loop& loop, Supervisor& supervisor);

/// Returns true if `after` has a newer version of some name than `before`.
bool progressed(const Versions& before, const Versions& after);

}  // namespace perdure::launch
