#pragma once
// perdure run --check-protection finds out whether the program protects all that a restored run needs.
//
// 1. The program runs undisturbed in an empty store in which every version is kept.
// 2. It runs again in a store that holds only the versions up to an early one, which it restores.
// 3. The later versions of both runs are compared, region by region and rank by rank. A difference means that
//    unprotected data had an influence on their content.
// 4. Only when there is a difference, the program runs undisturbed once more. That tells a program that never does the
//    same twice from one that protects too little.
#include <functional>

#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "config/config.hpp"
#include "launch/relaunch_loop.hpp"

namespace perdure::cli {

struct ProtectionCheck {
  std::vector<std::string> command;
  config::Config config;                                  ///< configuration of the run that is checked
  std::string restore_from;                               ///< VERSION or NAME@VERSION; empty: the first suitable one
  std::function<void(const std::string& line)> announce;  ///< tells the user about the steps
  NodeKeeper* nodes = nullptr;                            ///< chooses the nodes; nullptr: the program does
};

/// Runs the program two or three times, and reports on terminal.err and, unless it is empty, in `json_file`. Returns
/// kGood: no difference; kBad: a difference; kUsage: a wrong request; kCannot: it could not be found out.
int check_protection(const ProtectionCheck& check, Supervisor& supervisor, const std::string& json_file,
                     Terminal& terminal);

}  // namespace perdure::cli
