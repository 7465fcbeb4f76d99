#pragma once
// Lists the events that can happen to the redundancy of one version on one node, and the actions that follow. Plain
// data: the code that carries an action out reports the outcome as an event (replication.hpp).
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/replicate/encoding.hpp"
#include "engine/replicate/group_message.hpp"

namespace perdure::engine {

namespace event {

/// The others can read more of the capture under way on this node. `pieces`: of all its ranks, without hashes.
struct CapturePublished {
  std::vector<segment::Piece> pieces;
  std::vector<OfferedBlock> blocks;  ///< since the last event
};
/// The capture on this node ended without a commit.
struct CaptureOver {};
/// The version is committed on this node.
struct Committed {};
/// The answer to action::Publish: the others can read all blocks of this node.
struct Published {
  std::vector<segment::Piece> pieces;
  std::vector<OfferedBlock> blocks;  ///< that were not published during the capture
  bool part_stored = false;          ///< the store has this node's part already
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
  bool before_commit = false;     ///< as in the action
  bool nothing_to_store = false;  ///< this node has nothing of this version to store
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
/// A message from another position.
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
/// The store has all of the version, whichever nodes stored it.
struct WholeAtStore {};
/// This node is short of slots.
struct RoomWanted {
  enum class By { captures, redundancy } by = By::captures;
  bool nothing_to_store = false;  ///< this node has nothing of this version to store
};
/// The version is dropped on this node.
struct Dropped {};
/// A newer version of the name is at level node.
struct Superseded {};
/// This node is no longer in this group.
struct Left {};
/// The time of action::WakeAt has come, or other threads may no longer want the processors.
struct Timer {};

}  // namespace event

using ReplicationEvent = std::variant<event::CapturePublished, event::CaptureOver, event::Committed, event::Published,
                                      event::PublishingFailed, event::Encoded, event::EncodingFailed, event::Recorded,
                                      event::RecordingFailed, event::ReachedNoted, event::NotingFailed, event::Received,
                                      event::Sent, event::Ordered, event::PartStored, event::WholeAtStore,
                                      event::RoomWanted, event::Dropped, event::Superseded, event::Left, event::Timer>;

namespace action {

/// The reply to the sender of the event::Received.
struct Answer {
  base::Status status;
};
/// Pins the version's slots on this node until Unpin.
struct Pin {};
struct Unpin {};
/// Holds the flush of the version back until LetFlush.
struct HoldFlush {};
struct LetFlush {};
/// Makes the slots of the committed version readable. Once; answered by Published or PublishingFailed.
struct Publish {};
/// Sends a message; at most one at a time to each position. Answered by Sent.
struct Send {
  unsigned position = 0;
  GroupMessage message;
};
/// Encodes a block into a slot of this node. Answered by Encoded or EncodingFailed.
struct Encode {
  EncodingTask task;
  bool before_commit = false;  ///< takes only a slot that no capture will need
};
/// Writes the set to the catalog, which holds the slots from then on. Answered by Recorded or RecordingFailed.
struct Record {
  catalog::RedundancySet redundancy_set;
};
/// Writes to the catalog that level node is reached. Answered by ReachedNoted or NotingFailed.
struct NoteReached {};
/// The version is at level node as far as this group is concerned.
struct Reached {};
/// All positions have stored their part, so nobody needs the redundancy any more.
struct NoteGroupStored {};
/// Drops the catalog's record of the redundancy, if there is one, and its slots.
struct DropRedundancy {};
/// Gives back the slots of blocks that were made and not recorded.
struct GiveBack {
  std::vector<segment::ChunkEntry> blocks;
};
/// Orders parities at the server. Answered by Ordered.
struct Order {
  std::vector<std::vector<EncodingTask::Source>> blocks;
};
struct DropOrder {};
/// Asks the store whether it has all of this version. If so, event::WholeAtStore follows.
struct AskStore {};
/// Redundancy finds no room: every version of this node gets an event::RoomWanted.
struct SeekRoom {};
/// Reports that the version does not reach level node.
struct ReportWithdrawn {
  base::Error why;
  bool part_stored = false;
};
/// Counts this version as superseded: a newer one was at level node first.
struct CountSuperseded {};
/// Requests an event::Timer at that time. Replaces an earlier request; 0: none.
struct WakeAt {
  std::uint64_t ns = 0;
};
/// Ends the Replication. Answers that are still to come must be delivered.
struct Forget {};

}  // namespace action

using ReplicationAction =
    std::variant<action::Answer, action::Pin, action::Unpin, action::HoldFlush, action::LetFlush, action::Publish,
                 action::Send, action::Encode, action::Record, action::NoteReached, action::Reached,
                 action::NoteGroupStored, action::DropRedundancy, action::GiveBack, action::Order, action::DropOrder,
                 action::AskStore, action::SeekRoom, action::ReportWithdrawn, action::CountSuperseded, action::WakeAt,
                 action::Forget>;

}  // namespace perdure::engine
