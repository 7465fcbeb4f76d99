#pragma once
// What a rank tells its engine while it writes a checkpoint.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"
#include "ipc/planned_segment.hpp"
#include "ipc/slot_address.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

/// Slots that the rank may make ready, and how much of each its capture will fill.
struct Reserved {
  struct Slot {
    SlotAddress address;
    std::uint64_t bytes = 0;
    PERDURE_FIELDS(address, bytes)
  };
  std::vector<Slot> slots;
  PERDURE_FIELDS(slots)
};
/// The nodes of a launch: hashes of what tells them apart, ascending. Said once; captures name them by `launch`, which
/// is the same for the same nodes. 32 KiB for 4,096 nodes.
struct LaunchNodes {
  static constexpr const char* kName = "launch_nodes";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  std::uint64_t launch = 0;
  std::vector<std::uint64_t> nodes;
  PERDURE_FIELDS(launch, nodes)
  std::string wrong() const {
    return std::is_sorted(nodes.begin(), nodes.end()) ? "" : "field 'nodes' is not in ascending order";
  }
};
/// The sizes of the chunks of this rank's next capture, so that slots can be made ready.
struct Reserve {
  static constexpr const char* kName = "reserve";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Reserved;
  std::vector<std::uint64_t> chunk_bytes;
  PERDURE_FIELDS(chunk_bytes)
};

/// A capture of this rank begins: what it will be (chunks without hashes and places), and the segments that the version
/// will have on this node. From then on the engine can flush what is written.
struct Begin {
  static constexpr const char* kName = "begin";
  static constexpr Kind kKind = Kind::one_way;
  segment::VersionId id;
  std::uint32_t ranks = 0;
  segment::Piece piece;
  std::vector<PlannedSegment> segments;
  PERDURE_FIELDS(id, ranks, piece, segments)
  std::string wrong() const {
    return piece.rank < ranks ? "" : "field 'piece': its rank is not below the number of ranks";
  }
};

struct Granted {
  SlotAddress slot;
  PERDURE_FIELDS(slot)
};
/// Asks for a slot for one chunk; answered in order of arrival.
struct Grant {
  static constexpr const char* kName = "grant";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Granted;
  segment::VersionId id;
  std::uint64_t bytes = 0;
  std::uint64_t timeout_ns = 0;
  std::vector<std::uint32_t> avoid;  ///< tiers whose slots this rank could not write
  std::string why;                   ///< the error of the last of them
  /// PERDURE_TIMEOUT in place of waiting, of overtaking who waits, and of giving up anything that is not in the store;
  /// also where a newer attempt at the name was begun or is held: this one is older.
  bool at_once = false;
  PERDURE_FIELDS(id, bytes, timeout_ns, avoid, why, at_once)
};
/// A slot that was granted will not be written: it could not be, or is not needed.
struct GiveBack {
  static constexpr const char* kName = "give_back";
  static constexpr Kind kKind = Kind::one_way;
  segment::VersionId id;
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  PERDURE_FIELDS(id, tier, slot)
};
/// A chunk is in its slot. Errors are nobody's to hear: Stage finds them again.
struct Written {
  static constexpr const char* kName = "written";
  static constexpr Kind kKind = Kind::one_way;
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::uint64_t bytes = 0;
  base::Hash128 hash;
  PERDURE_FIELDS(id, rank, chunk, tier, slot, bytes, hash)
};
/// The same, and the rank waits until an emulated tier says that the write is over.
struct AwaitWritten {
  static constexpr const char* kName = "await_written";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Done;
  Written written;
  PERDURE_FIELDS(written)
};
/// The engine tells a rank this when it has staged its piece.
struct Staged {
  /// This node has versions enough on their way to the store: another one can be skipped. (docs/adr/0050)
  bool busy = false;
  PERDURE_FIELDS(busy)
};
/// This rank's piece is complete; chunk.place and chunk.offset name tier and slot.
struct Stage {
  static constexpr const char* kName = "stage";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Staged;
  segment::VersionId id;
  std::uint32_t ranks = 0;
  segment::Piece piece;
  std::uint64_t launch = 0;  ///< LaunchNodes: who captures it; 0: nobody said
  /// Not empty: it is committed with these segments as soon as all its ranks are staged here, who need not agree then.
  std::vector<PlannedSegment> when_whole = {};
  PERDURE_FIELDS(id, ranks, piece, launch, when_whole)
  std::string wrong() const {
    if (piece.rank >= ranks) return "field 'piece': its rank is not below the number of ranks";
    return when_whole.empty() || cover_all(when_whole, ranks) ? ""
                                                              : "field 'when_whole': each rank has to be in it once";
  }
};
/// Bytes of a chunk that may come in a message: to copy more costs more than to ask for a slot and to wait for it.
inline constexpr std::uint64_t kMostInMessage = 16 * base::KiB;
/// What an engine takes at most, whoever sends it: messages that wait for a slot are kept.
inline constexpr std::uint64_t kMostTakenInMessage = 64 * base::KiB;
/// Where the chunk is; nothing: all of it is done.
struct Placed {
  std::optional<SlotAddress> slot;
  Staged staged = {};  ///< where all of it is done
  PERDURE_FIELDS(slot, staged)
};
/// All of a capture whose piece has one chunk, and that a short one, in one message: what Begin, Grant, Written and
/// Stage say, and the chunk's bytes, which the engine puts into a slot. A slot that only the rank should write, or
/// can, it answers as Grant does: then it has taken this for Begin and Grant only.
struct SmallCapture {
  static constexpr const char* kName = "small_capture";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Placed;
  Begin begin;  ///< with the chunk's hash
  std::vector<std::byte> bytes;
  std::uint64_t launch = 0;  ///< as Stage::launch
  std::uint64_t timeout_ns = 0;
  bool at_once = false;  ///< as Grant::at_once
  PERDURE_FIELDS(begin, bytes, launch, timeout_ns, at_once)
  std::string wrong() const {
    return bytes.size() <= kMostTakenInMessage ? "" : "field 'bytes': too many for a message";
  }
  Grant grant() const { return {begin.id, bytes.size(), timeout_ns, {}, {}, at_once}; }
};
/// So long a rank was the application's own: from leaving its last checkpoint to entering this one, nothing else of
/// Perdure in between.
struct Step {
  static constexpr const char* kName = "step";
  static constexpr Kind kKind = Kind::one_way;
  std::uint64_t ns = 0;
  PERDURE_FIELDS(ns)
};
/// All ranks agreed; the segments of this node. Repeatable.
struct Commit {
  static constexpr const char* kName = "commit";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  std::vector<PlannedSegment> segments;
  bool recovered = false;  ///< after a loss: ReplicateAgain asks for redundancy, the commit does not
  /// All nodes bring it to the store. False, the same on all nodes: some of them were busy, so that it can be skipped.
  bool wanted = true;
  PERDURE_FIELDS(id, segments, recovered, wanted)
};
/// The version is given up everywhere. Repeatable.
struct Abort {
  static constexpr const char* kName = "abort";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  PERDURE_FIELDS(id)
};

/// The outcome of a version cannot be found out in this launch, nor can the version be had: its rest may be where
/// nobody can look now. What is here of it is kept until a newer one of the name is committed, or a checkpoint wants
/// its room.
struct KeepRemains {
  static constexpr const char* kName = "keep_remains";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  PERDURE_FIELDS(id)
};

using CaptureMessages = Messages<LaunchNodes, Reserve, Begin, Grant, GiveBack, Written, AwaitWritten, Stage,
                                 SmallCapture, Step, Commit, Abort, KeepRemains>;

}  // namespace perdure::ipc
