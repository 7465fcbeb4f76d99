#pragma once
// What is flushed next, and what a flush leaves behind.
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

  /// The next version to flush (commit order), now running; nothing when there is none. Writes delayed commit records
  /// first.
  std::optional<segment::VersionId> next();
  /// Others are to read its slots before the store's turn comes, or not any more.
  void replicate_first(const segment::VersionId& id, bool first);
  /// It is not held back any more, and can be skipped until its flush begins; nothing: none is held back.
  void let_flush(const std::optional<segment::VersionId>& id);
  /// What is to be flushed: of an open capture all that is announced, with place kNotWritten where it is not written.
  /// Nothing when it was given up.
  std::optional<catalog::HeldVersion> begin_attempt(const segment::VersionId& id);
  /// Before temporary segments of a version that is not committed are written.
  base::Status note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments);
  /// An attempt ended, with what it wrote still there. True when a part of the version is nowhere else.
  bool attempt_over(const segment::VersionId& id);
  /// No older version of its name is still on its way: versions are published in the order of their commits, so that
  /// whoever sees one at the store can count on the older ones to be there, or never to come.
  bool may_be_published(const segment::VersionId& id) const;
  /// Temporary segments that nobody writes and nobody needs.
  std::optional<catalog::BegunRecord> next_leftover() const;

  // ---- around each chunk that a flush reads from a slot
  /// Nothing when it is not there any more: its version was given up. Meanwhile the flush meter is told what it does.
  std::optional<FlushMeter::Started> chunk_begins(const segment::VersionId& id, const FlushedChunk& chunk);
  /// `movable`: the chunk can be read back from the segment. What it says of the store; nothing when it failed.
  std::optional<FlushMeter::Observation> chunk_ended(const segment::VersionId& id, const FlushedChunk& chunk,
                                                     const FlushMeter::Started& started, bool stored, bool movable);

  // ---- how it ended
  /// The store has what this node brings of `name` in this place. True when it was another one: then what was there is
  /// to be brought there again, which a report says.
  base::Result<bool> see_incarnation(const std::string& name, std::uint64_t incarnation);
  /// The store has these segments of a version no more: those of which all is still here are brought there again, which
  /// a report says.
  base::Status segments_gone(const segment::VersionId& id, const std::vector<std::uint32_t>& segments);
  base::Status segment_stored(const segment::VersionId& id, std::uint32_t segment);
  void succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds);
  void failed(const segment::VersionId& id, const base::Error& error, bool give_up);
  /// It read a chunk in this place that is not what its rank wrote: the chunk is set aside, and the flush given up.
  /// False when the piece was rebuilt meanwhile, so that the chunk is elsewhere: then it is tried again.
  bool read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read, const base::Error& error);
  /// What it read is not where it was: a piece was rebuilt meanwhile, or the version was given up.
  void interrupted(const segment::VersionId& id);
  /// After a start: what this node was to store and cannot reach is not tried.
  void give_up_unreachable();
  /// The store has all of that attempt: older ones are not waited for any more, where a part of them cannot be reached.
  /// Those of its run; `forks` as the store has them.
  base::Status drop_unreachable(const std::string& name, const segment::Attempt& whole_at_store,
                                const std::vector<plan::Fork>& forks = {});
  /// Gives up versions of `name` that are stored and beyond the newest `keep`.
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
