#pragma once
// Every state in which a power failure may leave the disk while a recorded sequence of operations ran.
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
  std::string description;            ///< for failure messages: after which operation, what was lost
  bool all_kept = false;  ///< nothing was lost: so the death of processes leaves the disk, whose machine goes on
};

/// For every prefix of the log: unsynced directory operations lost in every combination (up to four of them; beyond
/// that none, all, each one alone, all but each one) and unsynced file data kept, dropped, zeroed, torn. Equal states
/// are visited once, as the one that lost nothing if one of them did not. Returns their number.
std::size_t for_each_crash_state(const OperationLog& log, const std::function<void(const CrashState&)>& visit);

}  // namespace perdure::test_support
