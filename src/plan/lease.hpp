#pragma once
// Who may take a name over whose last writer has not closed it. Pure.
#include <cstdint>

namespace perdure::plan {

/// What is known of the launch that a record names, and of how long it has been watched.
struct LeaseFacts {
  bool owned = false;          ///< there is a record, and it does not say that its launch ended in order
  bool ours = false;           ///< it names this launch
  bool same_machine = false;   ///< its process can be looked for here
  bool process_lives = false;  ///< where it can be looked for
  bool renewed = false;        ///< while it was watched
  std::uint64_t watched_ns = 0;
  std::uint64_t lease_ns = 0;
};

enum class LeaseVerdict {
  take,  ///< the name is free, ours, or its owner is dead
  wait,  ///< not known yet: look again
  busy,  ///< its owner lives
};

/// Dead is whose process is gone from this very machine, or who does not renew for a whole lease while it is watched:
/// no clocks are compared, and nobody who renews in time is taken for dead. A process that is seen to live here is not
/// taken for dead because it cannot renew (its store may hang), but it is given the lease to end, as one that was just
/// killed does.
LeaseVerdict judge_lease(const LeaseFacts& facts);

}  // namespace perdure::plan
