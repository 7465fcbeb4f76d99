#pragma once
// What a restore does after an attempt at a version has failed. Pure; all ranks decide alike, over the same facts.
#include <cstdint>

namespace perdure::plan {

/// How the attempt ended, of all ranks together, and what came before it in the same call.
struct FailedRestore {
  bool wrong_use = false;    ///< the version does not fit what the call wants: no other one is taken for it
  bool engine_gone = false;  ///< an engine died: what it held is there for the next one
  /// Some rank was kept from its data by something that says nothing against the version: a device, room, memory.
  bool hindered = false;
  bool read_again = false;    ///< what was found damaged was read by another rank, and set aside or found good
  bool others_help = false;   ///< what this node cannot use may be had from other nodes
  bool latest = false;        ///< an older version would do
  unsigned engines_lost = 0;  ///< in this call, this time included
  unsigned hindrances = 0;    ///< of this version, this time included
  unsigned repairs = 0;       ///< of this version, before this time
};

enum class RestoreStep {
  attach,             ///< to new engines, and again
  again,              ///< the same version
  again_after_pause,  ///< the same version: what hindered may pass
  without_slots,      ///< the same version, from other nodes, without the slots that cannot be read
  older,              ///< all ranks take the next older version
  fail
};

RestoreStep after_failed_restore(const FailedRestore& failed);

/// Before the next attempt, after so many hindrances.
std::uint64_t pause_after_hindrance_ns(unsigned hindrances);

}  // namespace perdure::plan
