#pragma once
// Manages the life of a version on this node: staged, committed or aborted, read, set aside, exported, dropped.
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ledger/redundancy_sets.hpp"
#include "engine/ledger/slot_writes.hpp"

namespace perdure::engine {

/// The parts of a version on this node, and the redundancy kept for it, of all epochs.
struct Exported {
  struct Piece {
    segment::Piece piece;
    std::vector<std::optional<tier::SlotAddress>> slots;  ///< by chunk; nullopt: not to be used
  };
  std::vector<Piece> pieces;
  std::vector<catalog::RedundancySet> redundancy_sets;
};

class HeldVersions {
 public:
  HeldVersions(NodeTables& node, Captures& captures, SlotWrites& writes, RedundancySets& redundancy)
      : node_(node), captures_(captures), writes_(writes), redundancy_(redundancy) {}

  /// Call it after a start. Marks the catalog's slots as in use, and drops versions whose content is impossible.
  base::Status recover();

  // ---- from ranks
  /// A launch begins, or attaches again.
  void launch(const ipc::LaunchNodes& launch);
  base::Status stage(ClientId client, const ipc::Stage& stage);
  /// Commits the version once every piece is staged. If the catalog cannot take the record now, the commit still holds,
  /// and the record is written later.
  base::Status commit(const ipc::Commit& commit);
  base::Status abort(ClientId client, const segment::VersionId& id);
  /// Marks the version as remains, unless it is committed by now. It may be dropped before a checkpoint is refused, and
  /// is dropped when a newer one is committed.
  void keep_remains(const segment::VersionId& id);
  base::Result<const segment::Piece*> locate(ClientId client, const segment::VersionId& id, std::uint32_t rank);
  /// Keeps its slots on this node, and those of redundancy kept for it, until unpinned.
  void pin(ClientId client, const segment::VersionId& id);
  void unpin(ClientId client, const segment::VersionId& id);
  void unpin(ClientId client);
  base::Status quarantine(const ipc::Quarantine& quarantine);
  /// Drops the versions that it names, and the redundancy kept for them.
  base::Status retire(const ipc::Retire& retire);
  /// Returns the attempts named by `retire` that this node holds or keeps redundancy for.
  std::set<segment::VersionId> named_by(const ipc::Retire& retire) const;
  void client_gone(ClientId client);
  std::vector<ipc::HeldSummary> inventory(const std::string& name, std::uint64_t launch = 0) const;

  // ---- after nodes were lost
  /// Its slots stay as they are only while a client has it pinned.
  Exported export_pieces(const segment::VersionId& id) const;
  /// Takes in a piece that was fetched or rebuilt into slots taken for it. It replaces one that is not restorable.
  base::Status adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece);

  // ---- from other parts of the node's state
  base::Status write_delayed_commits();
  /// The store may work again by now. Versions that were given up are queued again, in their old order.
  void requeue_given_up();
  /// Drops the version. A slot is recycled only after the catalog recorded that.
  base::Status drop(const segment::VersionId& id);
  /// True if the version is in the store and nobody needs its slots, so that any chunk may have them.
  bool evictable(const catalog::HeldVersion& held) const;
  static bool can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment);
  /// True if a segment of it is not stored, and all pieces of that segment are here.
  static bool has_pieces_to_write(const catalog::HeldVersion& held);

 private:
  void hold_back(const segment::VersionId& id, const catalog::HeldVersion& held);
  base::Status commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held);
  void recorded(const catalog::HeldVersion& held);
  void count_chunks(const segment::VersionId& id, const segment::Piece& piece);
  void give_tiers_another_chance();
  bool adopt_slots(const catalog::HeldVersion& held);
  void release_slots(const catalog::HeldVersion& held);
  base::Status drop_impossible(const std::vector<segment::VersionId>& ids);
  void drop_remains(const segment::VersionId& newer);
  std::vector<std::uint64_t> nodes_of(std::uint64_t launch) const;
  ipc::CaptureNodes capture_nodes(const catalog::HeldVersion& held, std::uint64_t launch) const;

  NodeTables& node_;
  Captures& captures_;
  SlotWrites& writes_;
  RedundancySets& redundancy_;
  std::uint64_t next_order_ = 1;
  static constexpr std::size_t kMostLaunches = 16;
  std::deque<ipc::LaunchNodes> launches_;  // the most recent launches that reported their nodes
};

}  // namespace perdure::engine
