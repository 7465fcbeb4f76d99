#pragma once
// What a node holds, as a fold over the catalog's records. Pure.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/cbor.hpp"
#include "catalog/redundancy_set.hpp"
#include "segment/manifest.hpp"

namespace perdure::catalog {

/// As a chunk's place: it is not in a tier any more, but in the temporary segment of its version, at
/// ChunkEntry::offset.
inline constexpr std::uint32_t kInTemporarySegment = 0xFFFFFFFF;

/// A segment that this node writes to the store.
struct LocalSegment {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;
  bool stored = false;
  friend bool operator==(const LocalSegment&, const LocalSegment&) = default;
};

/// Replaces what was planned under its index, unless the store has that.
void plan_segment(std::vector<LocalSegment>& segments, LocalSegment segment);

// ---- records: what can happen to a version on a node -------------------------------------------------------------
/// Where a tier was found last: whether a tier that is there now, under another incarnation, took its place.
struct TierPlace {
  std::string directory;                ///< empty: not known
  std::uint64_t device = 0, inode = 0;  ///< of the directory
  std::uint64_t boot = 0;               ///< of the machine, where the content does not outlive it; 0: it does
  friend bool operator==(const TierPlace&, const TierPlace&) = default;
};
/// A tier that was in use, and the number by which records name it, wherever it stands in tier.order. When its
/// incarnation or name differs from the one before under this number, all that was there is gone; with incarnation 0
/// it is gone for good.
struct TierRecord {
  std::uint32_t tier = 0;
  std::string name;
  std::uint64_t incarnation = 0;
  TierPlace place = {};
  friend bool operator==(const TierRecord&, const TierRecord&) = default;
};
/// A rank's piece is complete in its slots (ChunkEntry: place = tier, offset = slot).
struct StageRecord {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  segment::Piece piece;
  /// The nodes that the version is captured on (ipc::LaunchNodes), ascending; none where nobody said it. Of the node's
  /// pieces of a version the first has them.
  std::vector<std::uint64_t> nodes = {};
};
/// All ranks agreed; these are the segments to write. A later record adds segments, after pieces of lost nodes came.
struct CommitRecord {
  segment::VersionId id;
  std::vector<LocalSegment> segments;
};
/// One of them is durable and visible in the store.
struct StoredRecord {
  segment::VersionId id;
  std::uint32_t segment = 0;
};
/// The store has one of them no more: it was damaged there, and was set aside or removed.
struct GoneRecord {
  segment::VersionId id;
  std::uint32_t segment = 0;
};
/// Where the store has, from now on, what this node brings of a name (store::Store::incarnation). When it differs from
/// the one before, what was brought there is not there any more.
struct IncarnationRecord {
  std::string name;
  std::uint64_t incarnation = 0;
  friend bool operator==(const IncarnationRecord&, const IncarnationRecord&) = default;
};
/// The node gives up its slots of this version (abort, eviction, retirement).
struct DropRecord {
  segment::VersionId id;
};
/// A chunk failed verification: it is never used again.
struct QuarantineRecord {
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::string why;
};
/// Before the first byte of them is written: temporary segments of a version that is not committed yet. Without
/// segments: none of them is left.
struct BegunRecord {
  segment::VersionId id;
  std::vector<LocalSegment> segments;
};
/// Chunks of a piece left their slots: they are in the temporary segment now.
struct SpilledRecord {
  struct Chunk {
    std::uint32_t chunk = 0;
    std::uint64_t offset = 0;  ///< in the segment
    friend bool operator==(const Chunk&, const Chunk&) = default;
  };
  segment::VersionId id;
  std::uint32_t rank = 0;
  std::vector<Chunk> chunks;
};
using Record = std::variant<TierRecord, StageRecord, CommitRecord, StoredRecord, DropRecord, QuarantineRecord,
                            BegunRecord, SpilledRecord, RedundancyRecord, ReachedRecord, BadBlockRecord,
                            DropRedundancyRecord, SupersededRecord, IncarnationRecord, GoneRecord>;

base::Json to_json(const Record& record);
/// What in it does not fit together, or nothing: the rules of who writes a record and of who reads it.
std::string wrong(const Record& record);
base::Result<Record> record_from_json(const base::Json& json, const std::string& object);

// ---- state -------------------------------------------------------------------------------------------------------
struct HeldVersion {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::map<std::uint32_t, segment::Piece> pieces;  ///< by rank
  bool committed = false;
  std::vector<LocalSegment> segments;
  std::set<std::pair<std::uint32_t, std::uint32_t>> quarantined;  ///< (rank, chunk)
  /// By rank: pieces of which a chunk is on a tier that cannot be reached in this launch. They are not among `pieces`.
  std::map<std::uint32_t, segment::Piece> unreachable = {};
  /// Until it is committed: the nodes that it was captured on (StageRecord).
  std::vector<std::uint64_t> nodes = {};

  bool all_stored() const;
  /// This node has the pieces of all ranks, on tiers that it can reach.
  bool whole_here() const { return pieces.size() == ranks && unreachable.empty(); }
  std::uint64_t bytes() const;
  /// The piece is here, in slots only, and no chunk of it is quarantined.
  bool restorable(std::uint32_t rank) const;
  /// The same, but some of its chunks are in a temporary segment: it cannot be restored before it is stored.
  bool spilled(std::uint32_t rank) const;
  bool any_spilled() const;
  /// Of all these ranks, whatever state they are in.
  bool has_pieces(const std::vector<std::uint32_t>& of_ranks) const;
  /// This node brought the rank's piece to the store, as part of a segment.
  bool stored(std::uint32_t rank) const;
  friend bool operator==(const HeldVersion&, const HeldVersion&) = default;
};

struct State {
  std::map<segment::VersionId, HeldVersion> versions;
  std::map<std::uint32_t, TierRecord> tiers;
  /// Temporary segments that were begun before the commit and may be there still.
  std::map<segment::VersionId, std::vector<LocalSegment>> begun;
  /// The redundancy blocks that this node keeps for others.
  std::map<RedundancyId, RedundancySet> redundancy_sets;
  /// Of these, what is on a tier that cannot be reached in this launch, and is not among RedundancySet::kept.
  struct UnreachableBlocks {
    std::map<BlockName, segment::ChunkEntry> blocks;
    bool reached = false;  ///< with these blocks the set had reached its level
    friend bool operator==(const UnreachableBlocks&, const UnreachableBlocks&) = default;
  };
  std::map<RedundancyId, UnreachableBlocks> unreachable_blocks = {};
  /// What is at level `node` on all nodes, by name.
  std::map<std::string, SupersededRecord> superseded;

  /// Where the store has what was brought there, by name.
  std::map<std::string, std::uint64_t> incarnations;

  /// Applies one record. Records about versions that are not held have no effect (replay after lost records).
  void apply(const Record& record);
  /// Records that rebuild this state from nothing; what cannot be reached is in them like everything else.
  std::vector<Record> snapshot() const;
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace perdure::catalog
