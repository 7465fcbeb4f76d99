#pragma once
// A rank sends these messages to its engine while it writes a checkpoint.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"
#include "ipc/planned_segment.hpp"
#include "ipc/slot_address.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

/// Slots that the rank may prepare, and how much of each its capture will fill.
struct Reserved {
  struct Slot {
    SlotAddress address;
    std::uint64_t bytes = 0;
    PERDURE_FIELDS(address, bytes)
  };
  std::vector<Slot> slots;
  PERDURE_FIELDS(slots)
};
/// Names the nodes of a launch: hashes that distinguish them, ascending. Sent once; captures refer to them by `launch`,
/// which is the same for the same nodes. 4,096 nodes take 32 KiB.
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
/// Announces the sizes of the chunks of this rank's next capture, so that slots can be prepared.
struct Reserve {
  static constexpr const char* kName = "reserve";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Reserved;
  std::vector<std::uint64_t> chunk_bytes;
  PERDURE_FIELDS(chunk_bytes)
};

/// Announces this rank's capture: its piece (chunks without hashes and places), and the version's segments on this
/// node. From then on the engine can flush chunks as they are written.
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
  std::string why;                   ///< the error of the last such tier
  /// Fails with PERDURE_TIMEOUT instead of waiting, of overtaking waiting ranks, and of evicting anything that is not
  /// in the store. It also fails if a newer attempt at the name was begun or is held, since this one is older.
  bool at_once = false;
  PERDURE_FIELDS(id, bytes, timeout_ns, avoid, why, at_once)
};
/// A granted slot will not be written, because it could not be or is not needed.
struct GiveBack {
  static constexpr const char* kName = "give_back";
  static constexpr Kind kKind = Kind::one_way;
  segment::VersionId id;
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  PERDURE_FIELDS(id, tier, slot)
};
/// A chunk is in its slot. There is no reply; Stage reports its errors.
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
/// Like Written, but the rank waits until an emulated tier has finished the write.
struct AwaitWritten {
  static constexpr const char* kName = "await_written";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Done;
  Written written;
  PERDURE_FIELDS(written)
};
/// The engine's answer to a rank that has staged its piece.
struct Staged {
  /// This node has enough versions on their way to the store, so another one can be skipped (docs/adr/0050).
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
  std::uint64_t launch = 0;  ///< the LaunchNodes that captures it; 0: unknown
  /// If not empty, the version is committed with these segments as soon as all its ranks are staged here. The ranks
  /// need not agree then.
  std::vector<PlannedSegment> when_whole = {};
  PERDURE_FIELDS(id, ranks, piece, launch, when_whole)
  std::string wrong() const {
    if (piece.rank >= ranks) return "field 'piece': its rank is not below the number of ranks";
    return when_whole.empty() || cover_all(when_whole, ranks) ? ""
                                                              : "field 'when_whole': each rank has to be in it once";
  }
};
/// The largest chunk that a rank sends in a message: copying more costs more than asking for a slot and waiting for it.
inline constexpr std::uint64_t kMostInMessage = 16 * base::KiB;
/// The largest chunk in a message that an engine accepts, since it keeps messages that wait for a slot.
inline constexpr std::uint64_t kMostTakenInMessage = 64 * base::KiB;
/// The slot for the chunk; nullopt: the whole capture is done.
struct Placed {
  std::optional<SlotAddress> slot;
  Staged staged = {};  ///< if the whole capture is done
  PERDURE_FIELDS(slot, staged)
};
/// A whole capture in one message, if its piece has a single short chunk. It has the content of Begin, Grant, Written
/// and Stage, and the chunk's bytes. The engine puts these into a slot. If only the rank should or can write the slot,
/// the engine answers as to Grant. Then it has taken this message as Begin and Grant only.
struct SmallCapture {
  static constexpr const char* kName = "small_capture";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Placed;
  Begin begin;  ///< with the chunk's hash
  std::vector<std::byte> bytes;
  std::uint64_t launch = 0;  ///< as in Stage
  std::uint64_t timeout_ns = 0;
  bool at_once = false;  ///< as in Grant
  PERDURE_FIELDS(begin, bytes, launch, timeout_ns, at_once)
  std::string wrong() const {
    return bytes.size() <= kMostTakenInMessage ? "" : "field 'bytes': too many for a message";
  }
  Grant grant() const { return {begin.id, bytes.size(), timeout_ns, {}, {}, at_once}; }
};
/// Reports how long a rank ran application code: from leaving its last checkpoint to entering this one, without another
/// call of Perdure in between.
struct Step {
  static constexpr const char* kName = "step";
  static constexpr Kind kKind = Kind::one_way;
  std::uint64_t ns = 0;
  PERDURE_FIELDS(ns)
};
/// All ranks agreed; the message has the segments of this node. Repeatable.
struct Commit {
  static constexpr const char* kName = "commit";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  segment::VersionId id;
  std::vector<PlannedSegment> segments;
  bool recovered = false;  ///< after a loss: ReplicateAgain asks for redundancy, the commit does not
  /// True: all nodes bring it to the store. False, the same on all nodes: some were busy, so it can be skipped.
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

/// This launch can neither find out the outcome of the version nor have it, since other parts may be out of reach now.
/// The node keeps its part until a newer version of the name is committed, or a checkpoint wants its room.
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
