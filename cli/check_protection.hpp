#pragma once
// perdure run --check-protection: finds out whether the program protects all that a restored run needs.
//
// 1. The program runs undisturbed in an empty store in which every version is kept.
// 2. It runs again in a store that holds only what there was at an early version, which it restores.
// 3. The later versions of both runs are compared, region by region and rank by rank. A difference means that
//    something else than the protected regions had a part in what they became.
// 4. Only when there is a difference: it runs undisturbed once more, so that a program which never does the same twice
//    is told from one that lacks something.
#include <functional>

#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "config/config.hpp"
#include "launch/relaunch_loop.hpp"

namespace perdure::cli {

struct ProtectionCheck {
  std::vector<std::string> command;
  config::Config config;                                  ///< of the run that is checked
  std::string restore_from;                               ///< VERSION or NAME@VERSION; empty: the first that will do
  std::function<void(const std::string& line)> announce;  ///< tells the user what happens
  NodeKeeper* nodes = nullptr;                            ///< chooses the nodes; nullptr: the program does
};

/// Runs the program two or three times, tells what was found on terminal.err and, unless it is empty, in `json_file`.
/// Returns kGood: nothing differs; kBad: something does; kUsage: a wrong request; kCannot: it could not be found out.
int check_protection(const ProtectionCheck& check, Supervisor& supervisor, const std::string& json_file,
                     Terminal& terminal);

}  // namespace perdure::cli
