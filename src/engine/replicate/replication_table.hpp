#pragma once
// A table describes the life of a version's redundancy on one node: the reaction to each event in each phase. The code
// in replication.cpp obeys it; replication_test.cpp walks every pair.
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/replicate/replication_events.hpp"

namespace perdure::engine {

/// The progress of this node's own part.
enum class ReplicationPhase : std::uint8_t {
  heard,      ///< another position announced the version; this node has announced none of it
  capturing,  ///< it is captured here, and its chunks are published as they are written
  committed,  ///< it is committed here; its slots are being made readable
  encoding,   ///< all blocks of this node are published; those that it has to keep are being encoded
  recording,  ///< the catalog is recording what this node keeps
  recorded,   ///< the catalog has the record; messages to and from the other positions follow
  reaching,   ///< the catalog is recording that level node is reached
  reached,    ///< only reports of stored parts are still to be sent and received
  withdrawn,  ///< the version stays at its lower level; the group is told
  dropped,    ///< like withdrawn, and no part of the version is left here: forgotten when the group has been told
  ended,      ///< forgotten; answers may still come in
};
inline constexpr std::size_t kReplicationPhases = 11;
const char* name_of(ReplicationPhase phase);

/// ReplicationEvent's kinds, with a received Withdraw apart from other messages.
inline constexpr std::size_t kReplicationEventKinds = std::variant_size_v<ReplicationEvent> + 1;
std::size_t kind_of(const ReplicationEvent& event);
const char* name_of_event_kind(std::size_t kind);

/// The reaction to an event.
enum class Reaction : std::uint8_t {
  never,          ///< it cannot happen
  ignore,         ///< it changes nothing by itself
  offer,          ///< take the blocks to offer
  end,            ///< release everything, and tell nobody
  commit,         ///< pin the version, hold its flush, publish its slots
  encode,         ///< take the rest of the blocks to offer; all are known now
  withdraw,       ///< give up level node
  keep_block,     ///< a block is made
  return_block,   ///< a block came too late, so its slot is given back
  try_again,      ///< a block could not be made: withdraw, or retry later
  note_recorded,  ///< the others may be told
  drop_record,    ///< the record came too late
  return_blocks,  ///< there is no record, so the slots of all blocks are given back
  record_later,   ///< withdraw, or retry later
  reach,          ///< level node
  reach_later,    ///< withdraw, or retry later
  take,           ///< take a message
  note_withdraw,  ///< remember who withdrew
  sent,           ///< handle the outcome of a message
  ordered,        ///< handle the outcome of an order
  drop_order,     ///< the order came too late
  note_stored,    ///< this node's part is in the store
  note_whole,     ///< all of the version is in the store
  make_room,      ///< withdraw if other nodes have the version
  ask_store,      ///< ask whether other nodes stored the version
  drop_again,     ///< drop what the catalog could not drop before
  drop,           ///< withdraw, and forget once the group was told
  supersede,      ///< release everything, and count the version
};

/// By event kind and phase.
using ReplicationTable = std::array<std::array<Reaction, kReplicationPhases>, kReplicationEventKinds>;
extern const ReplicationTable kReplicationTable;

/// Returns why the event cannot happen in the phases in which the table says so.
const char* why_never(std::size_t kind);

}  // namespace perdure::engine
