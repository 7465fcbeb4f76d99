#pragma once
// Decides who may take over a name that its last writer has not closed. Pure.
#include <cstdint>

namespace perdure::plan {

/// Facts about the launch that a record names, and about watching it.
struct LeaseFacts {
  bool owned = false;          ///< there is a record, and its launch did not end in order
  bool ours = false;           ///< it names this launch
  bool same_machine = false;   ///< this machine can look for its process
  bool process_lives = false;  ///< known on the same machine only
  bool renewed = false;        ///< since we watch it
  std::uint64_t watched_ns = 0;
  std::uint64_t lease_ns = 0;
};

enum class LeaseVerdict {
  take,  ///< the name is free, ours, or its owner is dead
  wait,  ///< not known yet: look again
  busy,  ///< its owner lives
};

/// An owner is dead if its process is gone from this very machine. It is also dead if it does not renew for a whole
/// lease while we watch. No clocks are compared, and an owner that renews in time never counts as dead. A process that
/// lives here does not count as dead because it cannot renew: its store may hang. But it gets the lease's time to end,
/// as a process does that was just killed.
LeaseVerdict judge_lease(const LeaseFacts& facts);

}  // namespace perdure::plan
