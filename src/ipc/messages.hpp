#pragma once
// What ranks and engines say to each other. One CBOR map per message; a request carries "op" and "seq", its reply the
// same "seq" and either "ok": true with fields, or "error". Everything received is checked here before anybody acts on
// it.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "ipc/redundancy_messages.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

inline constexpr std::uint64_t kProtocol = 6;

// ---- requests ----------------------------------------------------------------------------------------------------
/// First on every connection. Refused with PERDURE_BUSY when the engine serves another configuration.
struct Hello {
  std::uint64_t protocol = kProtocol;
  std::string fingerprint;
  std::uint32_t rank = 0;
  bool first_node = false;  ///< the engine of the job's first node looks after retention in the store
  bool client = true;       ///< false: a tool that only asks; does not keep the engine alive
};
/// The sizes of the chunks of this rank's next capture, so that slots can be made ready.
struct Reserve {
  std::vector<std::uint64_t> chunk_bytes;
};
struct PlannedSegment {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;
};
/// A capture of this rank begins: what it will be (chunks without hashes and places), and the segments that the version
/// will have on this node. From then on the engine can flush what is written. No answer.
struct Begin {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  segment::Piece piece;
  std::vector<PlannedSegment> segments;
};
/// A slot for one chunk; answered in order of arrival. Reply: slot address.
struct Grant {
  segment::VersionId id;
  std::uint64_t bytes = 0;
  std::uint64_t timeout_ns = 0;
  std::vector<std::uint32_t> avoid;  ///< tiers whose slots this rank could not write
  std::string why;                   ///< the error of the last of them
};
/// A slot that was granted will not be written: it could not be, or is not needed. No answer.
struct GiveBack {
  segment::VersionId id;
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
};
/// A chunk is in its slot.
struct Written {
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::uint64_t bytes = 0;
  base::Hash128 hash;
  /// The rank waits for the answer, which comes when an emulated tier says that the write is over. Otherwise there is
  /// none, so that saying it costs the capture nothing.
  bool reply = false;
};
/// This rank's piece is complete; chunk.place and chunk.offset name tier and slot.
struct Stage {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  segment::Piece piece;
};
/// So long a rank was the application's own: from leaving its last checkpoint to entering this one, nothing else of
/// Perdure in between. Never answered, so that saying it costs the capture nothing.
struct Step {
  std::uint64_t ns = 0;
};
/// All ranks agreed; the segments of this node. Repeatable.
struct Commit {
  segment::VersionId id;
  std::vector<PlannedSegment> segments;
  bool recovered = false;  ///< after a loss: whether it is protected again is said by Protect
};
/// The version is given up everywhere. Repeatable.
struct Abort {
  segment::VersionId id;
};
/// What this node holds. `name` empty: everything. Reply: "held", a list of HeldSummary; "kept", one of KeptSummary,
/// where that was asked for.
struct Inventory {
  std::string name;
  bool kept = false;  ///< also what it keeps for other nodes, which takes a look at every block of it
};
/// Where a rank's piece is; keeps its slots from being recycled until Unpin or the end of the connection. Reply: piece
/// and slot addresses.
struct Locate {
  segment::VersionId id;
  std::uint32_t rank = 0;
};
struct Unpin {};
struct Quarantine {
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::string why;
};
/// Answered when this node's segments of the version are in the store, or can't be, or the time is over (0: no limit).
struct WaitStored {
  segment::VersionId id;
  std::uint64_t timeout_ns = 0;
};
/// Something that people should know, for the engine's reports.
struct Note {
  std::string text;
};
struct Progress {};
/// What the engine sees and decides, for people: reply as src/engine/overview.hpp says. Changes nothing.
struct Top {};
/// What the engine counts, for monitoring: reply as src/engine/metrics_answer.cpp says. Changes nothing.
struct Metrics {};
/// A restore of this rank's is over, which read so much of its piece from where. Never answered.
struct Restored {
  std::uint64_t slot_bytes = 0;   ///< of this node's tiers
  std::uint64_t store_bytes = 0;  ///< from the store
};
struct NextReport {};
/// Gives up all attempts at a version on this node; the first node's engine also removes it from the store.
struct Retire {
  std::string name;
  std::uint64_t version = 0;
};
/// Answered when nothing is left to flush or retire, or all that is left was given up. Reply: "remaining" versions,
/// their "bytes", and "why" the last flush of one of them failed, if one did.
struct Drain {
  std::uint64_t timeout_ns = 0;
};
/// Ends a perdured when it is done (`drain` first on another call if wanted).
struct Shutdown {};

using Request =
    std::variant<Hello, Reserve, Begin, Grant, GiveBack, Written, Stage, Step, Commit, Abort, Inventory, Locate, Unpin,
                 Quarantine, WaitStored, WaitProtected, OpenNetwork, Join, Lend, Recover, Protect, NewestProtected,
                 Superseded, AllStored, Note, Progress, Top, Metrics, Restored, NextReport, Retire, Drain, Shutdown>;

base::Json to_json(const Request& request);
/// PERDURE_CORRUPT when anything is missing or out of range.
base::Result<Request> request_from_json(const base::Json& json);

// ---- replies -----------------------------------------------------------------------------------------------------
struct HeldSummary {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> held;  ///< ranks whose piece is here and restorable
  bool committed = false;
  bool stored = false;                        ///< this node's segments are in the store
  std::vector<std::uint32_t> moved;           ///< ranks whose piece is here, but can be restored only after its flush
  std::vector<PlannedSegment> begun;          ///< the segments that the moved pieces are tied to
  std::vector<PlannedSegment> segments = {};  ///< committed: in the store, or all of it is here to be written
};
base::Json to_json(const HeldSummary& summary);
base::Result<HeldSummary> summary_from_json(const base::Json& json);

base::Json error_reply(const base::Error& error);
/// The reply itself, or the error that it carries.
base::Result<base::Json> check_reply(base::Json reply);

}  // namespace perdure::ipc
