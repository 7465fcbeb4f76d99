#pragma once
// What replication asks and tells the state of its node. Each call takes the ledger's lock, and returns without it.
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

  /// Of all ranks of the job, of a version that is held here; nothing: it is not.
  std::optional<std::uint32_t> ranks_of(const segment::VersionId& id) const;
  /// Level node is reached, as far as the catalog says.
  bool reached(const catalog::RedundancyId& id) const;
  /// Somebody counts on this version. True: level node is reached in this launch, and all of it is here.
  bool promise(const segment::VersionId& id);
  /// All of these pieces were brought to the store by this node. None: all that it has to bring.
  bool part_stored(const segment::VersionId& id, const std::vector<segment::Piece>& pieces) const;
  bool nothing_to_store(const segment::VersionId& id) const;

  void pin(const segment::VersionId& id, bool pinned);
  void hold_flush(const segment::VersionId& id, bool held);
  /// `spare`: only a slot that no capture will need. PERDURE_NO_SPACE.
  base::Result<tier::SlotAddress> take_slot(const segment::VersionId& id, std::uint64_t bytes, bool spare);
  void give_back(const std::vector<segment::ChunkEntry>& blocks);
  void give_back(const tier::SlotAddress& slot);
  base::Status record(const catalog::RedundancySet& redundancy_set);
  base::Status note_reached(const catalog::RedundancyId& id);
  /// Where the catalog cannot take it, that is reported.
  void drop(const catalog::RedundancyId& id);
  void note_group_stored(const catalog::RedundancyId& id);
  void count_encoded(std::uint64_t bytes);
  void report_withdrawn(const segment::VersionId& id, const base::Error& why, bool part_stored);
  void count_superseded();
  void report(const std::string& text) { reports_.add(text); }

  /// It is being captured here, and its pieces that are known have fewer bytes.
  bool captures_less(const segment::VersionId& id, std::uint64_t bytes) const;
  struct Capture {
    bool over = false;  ///< it ended without a commit
    std::uint32_t ranks = 0;
    std::vector<segment::Piece> pieces;  ///< of all ranks of this node, without hashes; none: not to be replicated now
    std::vector<BlockInSlot> blocks;
  };
  /// What there is of a capture, and the blocks that were written since `seen`, which grows.
  Capture observe_capture(const segment::VersionId& id, std::size_t& seen) const;
  /// A committed version's pieces, of these ranks (none: of all), and its blocks. PERDURE_UNAVAILABLE: some have left
  /// their slots.
  base::Result<Capture> observe_committed(const segment::VersionId& id, const std::set<std::uint32_t>& ranks) const;

 private:
  Ledger& ledger_;
  Reports& reports_;
};

}  // namespace perdure::engine
