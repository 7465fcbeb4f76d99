#pragma once
// Enumerates every state in which a power failure may leave the disk during a recorded sequence of operations.
//
//   OperationLog log(root);            // records
//   ... the code under test ...; log.mark("committed");
//   for_each_crash_state(log, [](const CrashState& state) {
//     TemporaryDirectory directory;
//     state.image.write_to(directory.path());
//     ... open it again, check what state.promises says ...
//   });
#include <functional>
#include <string>
#include <vector>

#include "support/operation_log.hpp"

namespace perdure::test_support {

struct CrashState {
  DiskImage image;
  std::vector<std::string> promises;  ///< the marks before this point
  std::string description;            ///< for failure messages: after which operation, and what was lost
  bool all_kept = false;              ///< nothing was lost, as if processes died and the machine went on
};

/// Visits states for every prefix of the log. Unsynced directory operations are lost in every combination of up to
/// four; for more, none, all, each one alone, and all but each one. Unsynced file data is kept, dropped, zeroed or
/// torn. Equal states are visited once, with all_kept if one of them lost nothing. Returns the number of states.
std::size_t for_each_crash_state(const OperationLog& log, const std::function<void(const CrashState&)>& visit);

}  // namespace perdure::test_support
