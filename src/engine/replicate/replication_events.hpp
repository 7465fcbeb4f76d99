#pragma once
// What can happen to the redundancy of one version on one node, and what is then to be done. Plain data: whoever
// carries an action out says later, as an event, how it went. (replication.hpp)
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/replicate/encoding.hpp"
#include "engine/replicate/group_message.hpp"

namespace perdure::engine {

namespace event {

/// More of the capture under way on this node can be read by the others. `pieces`: of all its ranks, without hashes.
struct CapturePublished {
  std::vector<segment::Piece> pieces;
  std::vector<OfferedBlock> blocks;  ///< since the last time
};
/// The capture on this node ended without a commit.
struct CaptureOver {};
/// The version is committed on this node.
struct Committed {};
/// The answer to action::Publish: all blocks of this node can be read by the others.
struct Published {
  std::vector<segment::Piece> pieces;
  std::vector<OfferedBlock> blocks;  ///< that were not published while it was captured
  bool part_stored = false;          ///< this node's part is in the store already
};
/// Slots of this node could not be made readable.
struct PublishingFailed {
  base::Error error;
};
/// Answers to action::Encode.
struct Encoded {
  catalog::BlockName name;
  segment::ChunkEntry chunk;
};
struct EncodingFailed {
  EncodingTask task;
  base::Error error;
  bool before_commit = false;     ///< as the action said
  bool nothing_to_store = false;  ///< of this version, by this node
};
/// Answers to action::Record.
struct Recorded {};
struct RecordingFailed {
  base::Error error;
};
/// Answers to action::NoteReached.
struct ReachedNoted {};
struct NotingFailed {
  base::Error error;
};
/// A message of another position.
struct Received {
  GroupMessage message;
};
/// The answer to action::Send.
struct Sent {
  unsigned position = 0;
  base::Status outcome;
};
/// The answer to action::Order. False: ask again.
struct Ordered {
  base::Result<bool> done;
};
/// This node's part of the version is in the store.
struct PartStored {};
/// The store has all of the version, whoever brought it there.
struct WholeAtStore {};
/// Slots are short on this node.
struct RoomWanted {
  enum class By { captures, redundancy } by = By::captures;
  bool nothing_to_store = false;  ///< of this version, by this node
};
/// The version is given up on this node.
struct Dropped {};
/// A newer version of the name is at level node.
struct Superseded {};
/// This node is in this group no longer.
struct Left {};
/// A time that action::WakeAt named has come, or others may want the processors no longer.
struct Timer {};

}  // namespace event

using ReplicationEvent = std::variant<event::CapturePublished, event::CaptureOver, event::Committed, event::Published,
                                      event::PublishingFailed, event::Encoded, event::EncodingFailed, event::Recorded,
                                      event::RecordingFailed, event::ReachedNoted, event::NotingFailed, event::Received,
                                      event::Sent, event::Ordered, event::PartStored, event::WholeAtStore,
                                      event::RoomWanted, event::Dropped, event::Superseded, event::Left, event::Timer>;

namespace action {

/// What the sender of the event::Received hears.
struct Answer {
  base::Status status;
};
/// The version's slots on this node stay as they are, until Unpin.
struct Pin {};
struct Unpin {};
/// The flush of the version waits, until LetFlush.
struct HoldFlush {};
struct LetFlush {};
/// Makes the slots of the committed version readable. Once; answered by Published or PublishingFailed.
struct Publish {};
/// Answered by Sent. At most one at a time to each position.
struct Send {
  unsigned position = 0;
  GroupMessage message;
};
/// Into a slot of this node. Answered by Encoded or EncodingFailed.
struct Encode {
  EncodingTask task;
  bool before_commit = false;  ///< takes only a slot that no capture will need
};
/// Into the catalog. Answered by Recorded or RecordingFailed. From then on the catalog holds the slots.
struct Record {
  catalog::RedundancySet redundancy_set;
};
/// Into the catalog. Answered by ReachedNoted or NotingFailed.
struct NoteReached {};
/// The version is at level node as far as this group goes.
struct Reached {};
/// Nobody needs what is kept any more: all positions have stored their part.
struct NoteGroupStored {};
/// The catalog's record of what is kept, if there is one, and its slots.
struct DropRedundancy {};
/// Slots of blocks that were made and not recorded.
struct GiveBack {
  std::vector<segment::ChunkEntry> blocks;
};
/// Of parities at the server. Answered by Ordered.
struct Order {
  std::vector<std::vector<EncodingTask::Source>> blocks;
};
struct DropOrder {};
/// Whether it has all of this version: if so, event::WholeAtStore.
struct AskStore {};
/// Redundancy finds no room: every version of this node is to hear of it.
struct SeekRoom {};
/// The version does not reach level node.
struct ReportWithdrawn {
  base::Error why;
  bool part_stored = false;
};
/// A newer version was at level node before this one.
struct CountSuperseded {};
/// An event::Timer is to come then. Replaces what was said before; 0: none.
struct WakeAt {
  std::uint64_t ns = 0;
};
/// Nothing more will be done. Answers that are still to come have to be handed in.
struct Forget {};

}  // namespace action

using ReplicationAction =
    std::variant<action::Answer, action::Pin, action::Unpin, action::HoldFlush, action::LetFlush, action::Publish,
                 action::Send, action::Encode, action::Record, action::NoteReached, action::Reached,
                 action::NoteGroupStored, action::DropRedundancy, action::GiveBack, action::Order, action::DropOrder,
                 action::AskStore, action::SeekRoom, action::ReportWithdrawn, action::CountSuperseded, action::WakeAt,
                 action::Forget>;

}  // namespace perdure::engine
