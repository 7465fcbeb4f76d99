#pragma once
// Computes the content of a node, as a fold over the catalog's records. Pure.
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

/// A chunk's place: it is no longer in a tier, but in the temporary segment of its version, at ChunkEntry::offset.
inline constexpr std::uint32_t kInTemporarySegment = 0xFFFFFFFF;

/// A segment that this node writes to the store.
struct LocalSegment {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;
  bool stored = false;
  friend bool operator==(const LocalSegment&, const LocalSegment&) = default;
};

/// Replaces the plan under its index, unless the store has that segment.
void plan_segment(std::vector<LocalSegment>& segments, LocalSegment segment);

// ---- records: the events of a version on a node --------------------------------------------------------------------
/// The last place of a tier: it tells whether a tier that is there now, under another incarnation, replaced it.
struct TierPlace {
  std::string directory;                ///< empty: unknown
  std::uint64_t device = 0, inode = 0;  ///< of the directory
  std::uint64_t boot = 0;               ///< of the machine, if the content does not outlive it; 0: it does
  friend bool operator==(const TierPlace&, const TierPlace&) = default;
};
/// A tier that was in use, and the number by which records name it, wherever it stands in tier.order. If its
/// incarnation or name differs from the last one under this number, all its content is gone. With incarnation 0 it is
/// gone for good.
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
  /// The nodes that the version is captured on (ipc::LaunchNodes), ascending; empty if unknown. The first of the node's
  /// pieces of a version has them.
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
/// The store no longer has one of them: it was damaged there, and was quarantined or removed.
struct GoneRecord {
  segment::VersionId id;
  std::uint32_t segment = 0;
};
/// The place in the store for this node's versions of a name, from now on (store::Store::incarnation). If it differs
/// from the last one, versions brought there are gone.
struct IncarnationRecord {
  std::string name;
  std::uint64_t incarnation = 0;
  friend bool operator==(const IncarnationRecord&, const IncarnationRecord&) = default;
};
/// The node releases its slots of this version (abort, eviction, retirement).
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
/// Temporary segments of a version that is not committed yet, recorded before their first byte is written. Without
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
/// Returns the inconsistency of a record, or "". Writers and readers of records apply the same rules.
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
  /// By rank: pieces with a chunk on a tier that this launch cannot reach. They are not among `pieces`.
  std::map<std::uint32_t, segment::Piece> unreachable = {};
  /// Until it is committed: the nodes that it was captured on (StageRecord).
  std::vector<std::uint64_t> nodes = {};

  bool all_stored() const;
  /// Whether this node has the pieces of all ranks, on reachable tiers.
  bool whole_here() const { return pieces.size() == ranks && unreachable.empty(); }
  std::uint64_t bytes() const;
  /// Whether the piece is here, in slots only, and no chunk of it is quarantined.
  bool restorable(std::uint32_t rank) const;
  /// Whether it is here, but some chunks are in a temporary segment: it cannot be restored before it is stored.
  bool spilled(std::uint32_t rank) const;
  bool any_spilled() const;
  /// Whether it has pieces of all these ranks, in any state.
  bool has_pieces(const std::vector<std::uint32_t>& of_ranks) const;
  /// Whether this node brought the rank's piece to the store, as part of a segment.
  bool stored(std::uint32_t rank) const;
  friend bool operator==(const HeldVersion&, const HeldVersion&) = default;
};

struct State {
  std::map<segment::VersionId, HeldVersion> versions;
  std::map<std::uint32_t, TierRecord> tiers;
  /// Temporary segments that were begun before the commit and may still exist.
  std::map<segment::VersionId, std::vector<LocalSegment>> begun;
  /// The redundancy blocks that this node keeps for others.
  std::map<RedundancyId, RedundancySet> redundancy_sets;
  /// Blocks on a tier that this launch cannot reach; RedundancySet::kept lacks them.
  struct UnreachableBlocks {
    std::map<BlockName, segment::ChunkEntry> blocks;
    bool reached = false;  ///< with these blocks the set had reached its level
    friend bool operator==(const UnreachableBlocks&, const UnreachableBlocks&) = default;
  };
  std::map<RedundancyId, UnreachableBlocks> unreachable_blocks = {};
  /// The attempts at level `node` on all nodes, by name.
  std::map<std::string, SupersededRecord> superseded;

  /// The places of stored versions in the store, by name.
  std::map<std::string, std::uint64_t> incarnations;

  /// Applies one record. Records about versions that are not held have no effect (replay after lost records).
  void apply(const Record& record);
  /// Returns records that rebuild this state from nothing, including its unreachable parts.
  std::vector<Record> snapshot() const;
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace perdure::catalog
