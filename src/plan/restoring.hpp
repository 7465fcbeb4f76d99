#pragma once
// Decides how a restore continues after an attempt at a version has failed. Pure; all ranks decide alike, over the same
// facts.
#include <cstdint>

namespace perdure::plan {

/// The attempt's outcome on all ranks together, and its history within the same call.
struct FailedRestore {
  bool wrong_use = false;    ///< the version does not fit the call: no other one is taken for it
  bool engine_gone = false;  ///< an engine died: the next one has its data
  /// A hindrance kept some rank from its data, without evidence against the version: a device, room, memory.
  bool hindered = false;
  bool read_again = false;    ///< another rank read the damaged data again, and it was set aside or found good
  bool others_help = false;   ///< other nodes may have the data that this node cannot use
  bool latest = false;        ///< an older version would do
  unsigned engines_lost = 0;  ///< in this call, this time included
  unsigned hindrances = 0;    ///< of this version, this time included
  unsigned repairs = 0;       ///< of this version, before this time
};

enum class RestoreStep {
  attach,             ///< to new engines, then again
  again,              ///< the same version
  again_after_pause,  ///< the same version: the hindrance may pass
  without_slots,      ///< the same version, from other nodes, without the unreadable slots
  older,              ///< all ranks take the next older version
  fail
};

RestoreStep after_failed_restore(const FailedRestore& failed);

/// Returns the pause before the next attempt, after so many hindrances.
std::uint64_t pause_after_hindrance_ns(unsigned hindrances);

}  // namespace perdure::plan
