#pragma once
// Decides what is flushed next, and records the outcome of flushes.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ledger/held_versions.hpp"
#include "plan/lineage.hpp"

namespace perdure::engine {

/// A chunk that a flush reads from `slot` and writes to `offset` of its segment.
struct FlushedChunk {
  ChunkName name;
  SlotKey slot;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class Flushes {
 public:
  Flushes(NodeTables& node, Captures& captures, RedundancySets& redundancy, HeldVersions& held)
      : node_(node), captures_(captures), redundancy_(redundancy), held_(held) {}

  /// Returns the next version to flush, in commit order, and marks it as running; nullopt if there is none. Writes
  /// delayed commit records first.
  std::optional<segment::VersionId> next();
  /// Says whether other nodes read the version's slots before its flush begins.
  void replicate_first(const segment::VersionId& id, bool first);
  /// Holds the version back no longer. It can be skipped until its flush begins. nullopt: no version is held back.
  void let_flush(const std::optional<segment::VersionId>& id);
  /// Begins an attempt and returns what is to be flushed. An open capture comes with all announced chunks, with place
  /// kNotWritten if they are not written. nullopt if the version was given up.
  std::optional<catalog::HeldVersion> begin_attempt(const segment::VersionId& id);
  /// Call it before temporary segments of an uncommitted version are written.
  base::Status note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments);
  /// An attempt ended, and its temporary segments are still there. True if a part of the version is in them only.
  bool attempt_over(const segment::VersionId& id);
  /// True if no older version of its name is still on its way. Versions are published in the order of their commits. So
  /// anybody who finds one at the store knows that each older one is there, or will never come.
  bool may_be_published(const segment::VersionId& id) const;
  /// Returns temporary segments that no flush writes and no version needs; nullopt if there are none.
  std::optional<catalog::BegunRecord> next_leftover() const;

  // ---- around each chunk that a flush reads from a slot
  /// A flush begins to read the chunk, and the flush meter counts it. nullopt if the chunk is gone because its version
  /// was given up.
  std::optional<FlushMeter::Started> chunk_begins(const segment::VersionId& id, const FlushedChunk& chunk);
  /// Ends the chunk's flush. `movable`: the chunk can be read back from the segment. Returns what it shows about the
  /// rate; nullopt if it failed.
  std::optional<FlushMeter::Observation> chunk_ended(const segment::VersionId& id, const FlushedChunk& chunk,
                                                     const FlushMeter::Started& started, bool stored, bool movable);

  // ---- the end of a flush
  /// Notes which incarnation of the store's directory of `name` has this node's segments. True if it is another one
  /// than before: segments stored in the previous one are queued again, with a report.
  base::Result<bool> see_incarnation(const std::string& name, std::uint64_t incarnation);
  /// The store lost these segments of a version. Those whose chunks are all still here are queued again, with a report.
  base::Status segments_gone(const segment::VersionId& id, const std::vector<std::uint32_t>& segments);
  base::Status segment_stored(const segment::VersionId& id, std::uint32_t segment);
  void succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds);
  void failed(const segment::VersionId& id, const base::Error& error, bool give_up);
  /// A flush read a chunk in this place that differs from what its rank wrote: quarantines the chunk and gives the
  /// flush up. False if the piece was rebuilt meanwhile, so that the chunk is elsewhere; then the flush is retried.
  bool read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read, const base::Error& error);
  /// The chunks that the attempt read have moved, since a piece was rebuilt or the version was given up.
  void interrupted(const segment::VersionId& id);
  /// Call it after a start. Gives up flushes of versions that this node cannot reach.
  void give_up_unreachable();
  /// The store has all of this attempt. Drops older versions of its run with unreachable parts, since no flush needs to
  /// wait for them any more. `forks` as the store has them.
  base::Status drop_unreachable(const std::string& name, const segment::Attempt& whole_at_store,
                                const std::vector<plan::Fork>& forks = {});
  /// Drops stored versions of `name` beyond the newest `keep`.
  base::Status forget_old(const std::string& name, std::uint64_t keep);

 private:
  bool waits_for_replication(const segment::VersionId& id) const;
  bool held_back(const Version& version) const;
  bool may_follow(const segment::VersionId& id) const;
  bool none_before(const segment::VersionId& id, const std::function<bool(const segment::VersionId&)>& counts) const;
  void lost_with_its_tier(const segment::VersionId& id);
  const segment::ChunkEntry* find_chunk(const segment::VersionId& id, const ChunkName& name) const;
  bool is_in(const segment::VersionId& id, const ChunkName& name, SlotKey slot) const;
  base::Status drop_damaged(const std::string& name, const segment::Attempt& newest_stored);

  NodeTables& node_;
  Captures& captures_;
  RedundancySets& redundancy_;
  HeldVersions& held_;
};

}  // namespace perdure::engine
