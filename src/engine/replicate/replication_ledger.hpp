#pragma once
// Replication reaches its node's state through this class. Each call takes the ledger's lock, and returns without it.
// Thread-safe.
#include <optional>
#include <set>
#include <vector>

#include "engine/ledger/ledger.hpp"

namespace perdure::engine {

/// A block of this node in its slot.
struct BlockInSlot {
  std::uint64_t number = 0;
  tier::SlotAddress slot;
  base::Hash128 hash;
};

class ReplicationLedger {
 public:
  ReplicationLedger(Ledger& ledger, Reports& reports) : ledger_(ledger), reports_(reports) {}

  /// Returns the number of ranks in the job, for a version that is held here; nullopt if it is not.
  std::optional<std::uint32_t> ranks_of(const segment::VersionId& id) const;
  /// True if the catalog has a record that level node is reached.
  bool reached(const catalog::RedundancyId& id) const;
  /// Notes that somebody relies on this version. True: level node is reached in this launch, and all of it is here.
  bool promise(const segment::VersionId& id);
  /// True if this node stored all of these pieces. If none are given: all that it has to store.
  bool part_stored(const segment::VersionId& id, const std::vector<segment::Piece>& pieces) const;
  bool nothing_to_store(const segment::VersionId& id) const;

  void pin(const segment::VersionId& id, bool pinned);
  void hold_flush(const segment::VersionId& id, bool held);
  /// `spare`: takes only a slot that no capture will need. Fails with PERDURE_NO_SPACE.
  base::Result<tier::SlotAddress> take_slot(const segment::VersionId& id, std::uint64_t bytes, bool spare);
  void give_back(const std::vector<segment::ChunkEntry>& blocks);
  void give_back(const tier::SlotAddress& slot);
  base::Status record(const catalog::RedundancySet& redundancy_set);
  base::Status note_reached(const catalog::RedundancyId& id);
  /// A failure of the catalog is reported.
  void drop(const catalog::RedundancyId& id);
  void note_group_stored(const catalog::RedundancyId& id);
  void count_encoded(std::uint64_t bytes);
  void report_withdrawn(const segment::VersionId& id, const base::Error& why, bool part_stored);
  void count_superseded();
  void report(const std::string& text) { reports_.add(text); }

  /// True if it is being captured here, and its known pieces have fewer bytes.
  bool captures_less(const segment::VersionId& id, std::uint64_t bytes) const;
  struct Capture {
    bool over = false;  ///< it ended without a commit
    std::uint32_t ranks = 0;
    std::vector<segment::Piece> pieces;  ///< of all ranks of this node, without hashes; empty: not to be replicated now
    std::vector<BlockInSlot> blocks;
  };
  /// Returns the present content of a capture, and the blocks written since `seen`, which is updated.
  Capture observe_capture(const segment::VersionId& id, std::size_t& seen) const;
  /// Returns a committed version's pieces, of these ranks (none: of all), and its blocks. Fails with
  /// PERDURE_UNAVAILABLE if some have left their slots.
  base::Result<Capture> observe_committed(const segment::VersionId& id, const std::set<std::uint32_t>& ranks) const;

 private:
  Ledger& ledger_;
  Reports& reports_;
};

}  // namespace perdure::engine
