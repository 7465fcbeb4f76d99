#pragma once
// What a placement policy sees and what it answers (VeloC IPDPS'19, IV-B). Plain data; pure: engine and simulator call
// the same functions.
//
// Units: every bandwidth is the aggregate of this node in bytes per second: what all ranks writing to a tier get
// together, and what all flushes of the node move to the store together. Comparing a tier's aggregate with one flush
// thread's rate would be comparing different things.
//
// When to ask: for the producer at the head of the queue, whenever a request arrives, a write ends, a flush ends, or a
// tier fails or comes back. A policy may be asked any number of times; it never blocks and remembers nothing.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "placement/device_model.hpp"

namespace perdure::placement {

/// One tier at the moment of the decision, in configured order (fastest first).
struct TierState {
  std::uint64_t slots = 0;             ///< in all, for chunks of this size
  std::uint64_t free_slots = 0;        ///< free now, or can be made free without waiting
  unsigned writers = 0;                ///< chunks being written to it now
  unsigned readers = 0;                ///< flushes reading from it now
  std::uint64_t chunks_unflushed = 0;  ///< on it or being written to it, and not yet in the store
  /// How many of its slots flushes will free: under way, queued, or to follow a write in flight. Waiting for a tier
  /// with 0 is useless.
  std::uint64_t slots_to_come = 0;
  /// Its last operations failed; to be used only when nothing else is left. A tier that this rank avoids has failed for
  /// it, with no free slots and none to come.
  bool failed = false;
  const DeviceModel* model = nullptr;  ///< its predicted aggregate; must be set
};

/// The background flushes of this node.
struct FlushOutlook {
  double bytes_per_s = 0;            ///< moving average of the node's aggregate (Algorithm 3); 0: nothing observed yet
  double deviation_bytes_per_s = 0;  ///< standard deviation over the same window
  unsigned threads = 16;             ///< the most flushes that run at once
  /// Predicted seconds until the next flush ends. Flushes that began together end together, so that the next slot can
  /// be much further away than one chunk divided by the aggregate. 0: not known.
  double next_slot_s = 0;
  /// What the flushes sustain over a longer time, bursts and slumps set off against each other, for what is decided
  /// about the end of the checkpoint. 0: not known.
  double sustained_bytes_per_s = 0;
};
/// The aggregate to plan the end of a checkpoint with: what is sustained, or the moving average while that is not
/// known.
inline double to_count_on(const FlushOutlook& flush) {
  return flush.sustained_bytes_per_s > 0 ? flush.sustained_bytes_per_s : flush.bytes_per_s;
}

/// The producers of this node.
struct QueueState {
  std::uint64_t waiting = 1;  ///< producers waiting for a slot, the one asked for included
  std::uint64_t chunks_to_come =
      1;  ///< of this checkpoint, not yet placed, those waiting included; unknown: as `waiting`
};

struct View {
  std::span<const TierState> tiers;
  FlushOutlook flush;
  QueueState queue;
  std::uint64_t chunk_bytes = 1;
};

enum class Reason {
  fastest,          ///< the fastest tier there is has room
  first_with_room,  ///< the first in order that has room
  only_choice,      ///< the one tier that this policy uses has room
  beats_flush,      ///< it is predicted to be faster than waiting for a flush
  helps_meanwhile,  ///< slower, but done before the flushes would have made room for everything that is still to come
  nothing_to_wait_for,  ///< the policy would rather wait, but no flush can free a slot
  failed_last_resort,   ///< a failed tier: nothing else has room, and no flush can free a slot
  wait_full,            ///< nothing that may be used has room
  wait_flush_faster,    ///< a tier has room, but a flush is predicted to free a faster slot sooner
  wait_saturated,       ///< a tier has room, but is as busy as serves it well
  wait_backlog,         ///< a tier has room, but flushing what lies there would end later than everything else
  nowhere,              ///< no tier has room and nothing will free one: the producer has to be refused
};

/// A tier, or to wait. `tier` is empty exactly when the reason is one of wait_* or nowhere. The figures are those the
/// decision was made on, for people; 0 where they played no part.
struct Decision {
  std::optional<std::size_t> tier;
  Reason reason = Reason::nowhere;
  double tier_bytes_per_s = 0;   ///< predicted aggregate of the tier (chosen, or the best that was turned down)
  double flush_bytes_per_s = 0;  ///< what it was compared with
  double write_s = 0;            ///< predicted time to write the chunk there
  double rest_s = 0;             ///< predicted time until everything to come is placed otherwise
};

/// "waits: a flush frees a faster slot sooner", ... for reports and live views.
const char* reason_text(Reason reason);
/// "wait_flush_faster", ... for programs.
const char* reason_name(Reason reason);
bool is_wait(Reason reason);

}  // namespace perdure::placement
