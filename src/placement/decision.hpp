#pragma once
// Defines the input and the answer of a placement policy (VeloC IPDPS'19, IV-B). Plain data; pure: engine and simulator
// call the same functions.
//
// Units: every bandwidth is the aggregate of this node in bytes per second. That is the rate of all ranks that write to
// a tier together, or of all flushes of the node to the store together. A tier's aggregate must not be compared with
// the rate of one flush thread.
//
// The policy is asked for the producer at the head of the queue. That happens whenever a request arrives, a write or a
// flush ends, or a tier fails or recovers. It may be asked any number of times; it never blocks and remembers nothing.
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
  /// Its last operations failed: it is the last resort. A tier that this rank avoids counts as failed for it, with no
  /// free slots and none to come.
  bool failed = false;
  const DeviceModel* model = nullptr;  ///< its predicted aggregate; must be set
};

/// The background flushes of this node.
struct FlushOutlook {
  double bytes_per_s = 0;            ///< moving average of the node's aggregate (Algorithm 3); 0: nothing observed yet
  double deviation_bytes_per_s = 0;  ///< standard deviation over the same window
  unsigned threads = 16;             ///< the most flushes that run at once
  /// Predicted seconds until the next flush ends; 0: unknown. Flushes that began together end together. So the next
  /// slot can be much further away than one chunk divided by the aggregate.
  double next_slot_s = 0;
  /// The flush rate over a longer time, in which bursts and slumps balance, for decisions about the end of the
  /// checkpoint. 0: unknown.
  double sustained_bytes_per_s = 0;
};
/// Returns the aggregate to plan the end of a checkpoint with: the sustained one, or the moving average while that is
/// unknown.
inline double to_count_on(const FlushOutlook& flush) {
  return flush.sustained_bytes_per_s > 0 ? flush.sustained_bytes_per_s : flush.bytes_per_s;
}

/// The producers of this node.
struct QueueState {
  std::uint64_t waiting = 1;  ///< producers waiting for a slot, including the one asked for
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
  fastest,              ///< the fastest tier there is has room
  first_with_room,      ///< the first in order that has room
  only_choice,          ///< the one tier that this policy uses has room
  beats_flush,          ///< it is predicted to be faster than waiting for a flush
  helps_meanwhile,      ///< slower, but done before flushes would have made room for all chunks still to come
  nothing_to_wait_for,  ///< the policy would rather wait, but no flush can free a slot
  failed_last_resort,   ///< a failed tier: nothing else has room, and no flush can free a slot
  wait_full,            ///< no usable tier has room
  wait_flush_faster,    ///< a tier has room, but a flush is predicted to free a faster slot sooner
  wait_saturated,       ///< a tier has room, but has as many writers as serve it well
  wait_backlog,         ///< a tier has room, but flushing its chunks would end later than everything else
  nowhere,              ///< no tier has room and nothing will free one: the producer has to be refused
};

/// A tier, or to wait. `tier` is empty exactly if the reason is one of wait_* or nowhere. The figures are the basis of
/// the decision, for people; 0 if they played no part.
struct Decision {
  std::optional<std::size_t> tier;
  Reason reason = Reason::nowhere;
  double tier_bytes_per_s = 0;   ///< predicted aggregate of the tier (chosen, or the best that was turned down)
  double flush_bytes_per_s = 0;  ///< it was compared with this
  double write_s = 0;            ///< predicted time to write the chunk there
  double rest_s = 0;             ///< predicted time until all chunks still to come are placed otherwise
};

/// Returns "waits: a flush frees a faster slot sooner", ... for reports and live views.
const char* reason_text(Reason reason);
/// Returns "wait_flush_faster", ... for programs.
const char* reason_name(Reason reason);
bool is_wait(Reason reason);

}  // namespace perdure::placement
