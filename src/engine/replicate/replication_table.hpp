#pragma once
// The life of a version's redundancy on one node as a table: what each event means in each phase. replication.cpp obeys
// it; replication_test.cpp walks every pair.
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/replicate/replication_events.hpp"

namespace perdure::engine {

/// How far this node's own part is.
enum class ReplicationPhase : std::uint8_t {
  heard,      ///< another position announced the version; nothing of it is announced here
  capturing,  ///< it is captured here, and its chunks are published as they are written
  committed,  ///< it is committed here; its slots are being made readable
  encoding,   ///< all blocks of this node are published; those that it has to keep are being made
  recording,  ///< the catalog is being told what this node keeps
  recorded,   ///< the catalog has it; the other positions are told, and heard
  reaching,   ///< the catalog is being told that level node is reached
  reached,    ///< what is left is to say, and to hear, who has stored his part
  withdrawn,  ///< the version stays at its lower level; the group is told
  dropped,    ///< the same, and nothing of the version is left here: forgotten when the group has been told
  ended,      ///< forgotten; answers may still come in
};
inline constexpr std::size_t kReplicationPhases = 11;
const char* name_of(ReplicationPhase phase);

/// ReplicationEvent's kinds, with a received Withdraw apart from other messages.
inline constexpr std::size_t kReplicationEventKinds = std::variant_size_v<ReplicationEvent> + 1;
std::size_t kind_of(const ReplicationEvent& event);
const char* name_of_event_kind(std::size_t kind);

/// What an event means.
enum class Reaction : std::uint8_t {
  never,          ///< it cannot happen
  ignore,         ///< it changes nothing by itself
  offer,          ///< take the blocks to offer
  end,            ///< release everything, silently
  commit,         ///< pin the version, hold its flush, publish its slots
  encode,         ///< take the rest of the blocks to offer; all are known now
  withdraw,       ///< give up level node
  keep_block,     ///< a block is made
  return_block,   ///< a block came too late: its slot is given back
  try_again,      ///< a block is not made: withdraw, or try again later
  note_recorded,  ///< the others may be told
  drop_record,    ///< the record came too late
  return_blocks,  ///< there is no record: the slots of all blocks are given back
  record_later,   ///< withdraw, or try again later
  reach,          ///< level node
  reach_later,    ///< withdraw, or try again later
  take,           ///< take a message
  note_withdraw,  ///< remember who withdrew
  sent,           ///< see what came of a message
  ordered,        ///< see what came of an order
  drop_order,     ///< the order came too late
  note_stored,    ///< this node's part is in the store
  note_whole,     ///< everybody's is
  make_room,      ///< withdraw where others have the version
  ask_store,      ///< whether others brought the version there
  drop_again,     ///< what the catalog could not drop
  drop,           ///< withdraw, and forget once the group was told
  supersede,      ///< release everything, and count it
};

/// By event kind and phase.
using ReplicationTable = std::array<std::array<Reaction, kReplicationPhases>, kReplicationEventKinds>;
extern const ReplicationTable kReplicationTable;

/// Why an event cannot happen in the phases in which the table says so.
const char* why_never(std::size_t kind);

}  // namespace perdure::engine
